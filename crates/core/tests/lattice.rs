//! The search on random layered graphs whose exact values are known: identity, leak, solver, reuse, threads,
//! memory, exploration.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anabranch_core::evaluators::{Evaluator, Leaf};
use anabranch_core::game::{Constraint, Ending, Game, MoveCode};
use anabranch_core::graph::{NONE, node_flag};
use anabranch_core::random::mix;
use anabranch_core::report::{Meters, Part};
use anabranch_core::run::drive::{Finish, Limits, run};
use anabranch_core::run::pool::Pool;
use anabranch_core::search::Search;
use anabranch_core::settings::{Backup, Merge, Settings, SolverRule, Stop};

/// A position of a game on a lattice: `width` places per layer, a few moves from each to places of the next
/// layer.
#[derive(Clone, Debug)]
struct Lattice {
    seed: u64,
    depth: u32,
    width: u64,
    layer: u32,
    place: u64,
    /// Whether a player may move twice in a row.
    doubles: bool,
    /// Whether it is a game of one player with a score at the end.
    scores: bool,
}

impl Lattice {
    fn new(seed: u64, depth: u32, width: u64) -> Lattice {
        Lattice { seed, depth, width, layer: 0, place: 0, doubles: false, scores: false }
    }

    fn draw(&self, what: u64) -> u64 {
        mix(self.seed ^ mix(u64::from(self.layer) << 32 | self.place) ^ mix(what))
    }

    /// The exact value for the side to move.
    fn minimax(&self, known: &mut HashMap<(u32, u64), f64>) -> f64 {
        if let Some(&value) = known.get(&(self.layer, self.place)) {
            return value;
        }
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        let value = match self.ending(&moves) {
            Some(ending) => ending.value(),
            None => moves
                .iter()
                .map(|&mv| {
                    let mut next = self.clone();
                    next.play(mv);
                    let value = next.minimax(known);
                    if next.player() == self.player() { value } else { -value }
                })
                .fold(-1.0, f64::max),
        };
        known.insert((self.layer, self.place), value);
        value
    }
}

impl Game for Lattice {
    fn key(&self) -> u64 {
        mix(u64::from(self.layer) << 32 | self.place)
    }

    fn player(&self) -> u8 {
        if self.scores {
            0
        } else if self.doubles {
            (self.draw(3) & 1) as u8
        } else {
            (self.layer & 1) as u8
        }
    }

    fn ply(&self) -> u32 {
        self.layer
    }

    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        if self.layer < self.depth {
            moves.extend((0..2 + (self.draw(1) % 4) as u16).map(MoveCode));
        }
    }

    fn ending(&self, moves: &[MoveCode]) -> Option<Ending> {
        if self.scores {
            return moves.is_empty().then(|| Ending::Score((self.draw(2) % 199) as f32 / 100.0 - 0.99));
        }
        moves.is_empty().then(|| match self.draw(2) % 3 {
            0 => Ending::Win,
            1 => Ending::Draw,
            _ => Ending::Loss,
        })
    }

    fn play(&mut self, mv: MoveCode) {
        let place = self.draw(100 + u64::from(mv.0)) % self.width;
        self.layer += 1;
        self.place = place;
    }

    fn is_zeroing(&self, _mv: MoveCode) -> bool {
        true
    }

    fn satisfies(&self, _constraint: Constraint, mv: MoveCode) -> bool {
        mv.0 & 1 == 1
    }

    fn text(&self) -> String {
        format!("{}:{}", self.layer, self.place)
    }

    fn move_text(&self, mv: MoveCode) -> String {
        mv.0.to_string()
    }

    fn plane_shape(&self) -> [usize; 3] {
        [1, 8, 8]
    }

    fn policy_size(&self) -> usize {
        8
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        planes.fill(0.0);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}

/// Judges by a number drawn for the place, and prefers moves by others.
struct Drawn;

impl Evaluator<Lattice> for Drawn {
    fn evaluate(&self, leaf: &Leaf<Lattice>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        logits.clear();
        logits.extend(leaf.moves.iter().map(|mv| (leaf.game.draw(500 + u64::from(mv.0)) % 64) as f32 / 32.0));
        (leaf.game.draw(400) >> 40) as f32 / 8_388_608.0 - 1.0
    }
}

fn settings(preset: &str) -> Settings {
    Settings { memory: 1 << 28, ..Settings::preset(preset).unwrap() }
}

fn searched(game: Lattice, settings: Settings, simulations: u64) -> (Search<Lattice>, Finish) {
    let mut pool = Pool::new(settings.threads as usize);
    let mut search = Search::new(settings, Some(Arc::new(Drawn)), game, &[]);
    let finish = go(&mut search, &mut pool, simulations);
    (search, finish)
}

fn go(search: &mut Search<Lattice>, pool: &mut Pool<Lattice>, simulations: u64) -> Finish {
    let mut limits = Limits::default();
    limits.budget.simulations = Some(simulations);
    search.reset_counters();
    run(search, pool, limits, &Arc::new(AtomicBool::new(false)), &mut |_| {})
}

fn assert_identity(search: &Search<Lattice>) {
    let graph = search.graph();
    let mut checked = 0;
    for id in graph.ids() {
        let node = graph.node(id);
        if !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) {
            continue;
        }
        let sum: f64 = graph.edges(id).iter().map(|edge| f64::from(edge.visits) * edge.q).sum();
        let visits: u32 = graph.edges(id).iter().map(|edge| edge.visits).sum();
        assert_eq!(node.visits, visits + 1);
        let left = f64::from(node.visits) * node.value;
        assert!((left - f64::from(node.raw) - sum).abs() < 1e-6 * f64::from(node.visits), "{left} {sum}");
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}

/// Nodes in order of discovery with everything that makes a graph.
fn fingerprint(search: &Search<Lattice>) -> String {
    let (nodes, edges) = search.export(&Part { depth: None, visits: 0, nodes: usize::MAX });
    format!("{nodes:?}{edges:?}")
}

#[test]
fn identity_holds_for_the_comparators_also_where_a_player_moves_twice() {
    for preset in ["update-all", "ucd", "uct", "gumbel", "uct+solver"] {
        for doubles in [false, true] {
            let game = Lattice { doubles, ..Lattice::new(5, 30, 40) };
            let settings = Settings { solver: preset == "uct+solver", ..settings(preset) };
            let (search, _) = searched(game, settings, 2000);
            assert_identity(&search);
        }
    }
}

#[test]
fn every_solver_proves_the_true_value() {
    for rule in [SolverRule::ExactWin2, SolverRule::ExactWin, SolverRule::MctsSolver] {
        let mut proven = 0;
        for seed in 0..12 {
            let game = Lattice { doubles: seed % 2 == 0, ..Lattice::new(seed, 5, 30) };
            let truth = game.minimax(&mut HashMap::new());
            for preset in ["mcgs", "uct"] {
                let settings = Settings { solver: true, solver_rule: rule, ..settings(preset) };
                let (search, _) = searched(game.clone(), settings, 20_000);
                if let Some(value) = search.proven().0.value() {
                    assert_eq!(value, truth, "{rule:?} {seed}");
                    proven += 1;
                }
            }
        }
        let least = if rule == SolverRule::MctsSolver { 8 } else { 20 };
        assert!(proven >= least, "{rule:?} proved {proven} of 24");
    }
}

#[test]
fn identity_holds_in_every_mode_with_edge_values() {
    for backup in [Backup::Tree, Backup::TreeCache, Backup::Naive, Backup::Paper, Backup::Delta] {
        for stop in [Stop::Gap, Stop::Visits, Stop::Never] {
            let (search, _) = searched(
                Lattice::new(5, 30, 40),
                Settings { backup, stop, ..settings("mcgs-combined") },
                3000,
            );
            assert_identity(&search);
        }
    }
}

#[test]
fn graph_is_smaller_than_the_tree_and_has_no_cycle() {
    let (tree, _) = searched(Lattice::new(1, 40, 30), settings("alphazero"), 3000);
    let (graph, _) = searched(Lattice::new(1, 40, 30), settings("mcgs"), 3000);
    assert_eq!(tree.counters().transposition_links, 0);
    assert!(graph.counters().transposition_links > 300);
    assert!(graph.counters().corrections > 300);
    assert!(graph.graph().len() * 2 < tree.graph().len());
    for id in graph.graph().ids() {
        for edge in graph.graph().edges(id).iter().filter(|edge| edge.child != NONE) {
            assert_eq!(
                graph.graph().node(edge.child).salt,
                graph.graph().node(id).salt + 1,
                "every edge leads one ply down"
            );
        }
    }
}

#[test]
fn leak_of_each_mode_has_its_order_of_magnitude() {
    let mean = |backup: Backup, stop: Stop| {
        let seeds = 12;
        let total: f64 = (0..seeds)
            .map(|seed| {
                searched(Lattice::new(seed, 60, 25), Settings { backup, stop, ..settings("mcgs") }, 4000)
                    .0
                    .statistics(Meters::Whole)
                    .leak
            })
            .sum();
        total / f64::from(seeds as u32)
    };
    let naive = mean(Backup::Naive, Stop::Never);
    let paper = mean(Backup::Paper, Stop::Gap);
    let delta = mean(Backup::Delta, Stop::Gap);
    println!("leak: naive {naive:.4}, paper {paper:.4}, delta {delta:.4}");
    assert!(naive > 0.02 && naive < 0.3, "{naive}");
    assert!(paper < naive / 3.0 && delta < naive / 3.0, "naive {naive}, paper {paper}, delta {delta}");
    assert!(paper < 0.02, "{paper}");
}

#[test]
fn every_solved_node_has_its_minimax_value() {
    let mut solved = 0;
    for seed in 0..40 {
        for doubles in [false, true] {
            let game = Lattice { doubles, ..Lattice::new(seed, 7, 12) };
            let (search, finish) = searched(game.clone(), settings("mcgs-combined"), 20_000);
            let (nodes, _) = search.export(&Part { depth: None, visits: 0, nodes: usize::MAX });
            let mut known = HashMap::new();
            for node in &nodes {
                if let Some(value) = node.state.value() {
                    let (layer, place) = node.position.split_once(':').unwrap();
                    let here = Lattice {
                        layer: layer.parse().unwrap(),
                        place: place.parse().unwrap(),
                        ..game.clone()
                    };
                    assert_eq!(here.minimax(&mut known), value, "seed {seed}, node {}", node.position);
                    assert!(node.plies.unwrap() <= 7);
                    solved += 1;
                }
            }
            assert_eq!(finish, Finish::Solved, "seed {seed}");
        }
    }
    assert!(solved > 1000, "{solved}");
}

#[test]
fn one_player_finds_the_best_score() {
    let mut found = 0;
    for seed in 0..20 {
        let game = Lattice { scores: true, ..Lattice::new(seed, 6, 12) };
        let (search, finish) = searched(game.clone(), settings("mcgs-combined"), 20_000);
        assert_ne!(finish, Finish::Solved, "scores prove nothing");
        let (mut known, mut here) = (HashMap::new(), game.clone());
        let best = game.minimax(&mut known);
        let value = search.graph().node(search.root()).value;
        assert!(value <= best + 1e-6, "seed {seed}: {value} above {best}");
        here.play(search.best_code().unwrap());
        found += usize::from(here.minimax(&mut known) == best);
        let graph = search.graph();
        for id in graph.ids().filter(|&id| graph.node(id).has(node_flag::TERMINAL)) {
            let node = graph.node(id);
            assert!(!node.state.is_solved() && graph.exact_value(id) == Some(node.value));
        }
    }
    assert!(found >= 19, "{found} of 20");
}

#[test]
fn solver_off_proves_nothing_but_endings() {
    let (search, _) = searched(Lattice::new(3, 7, 12), settings("mcgs"), 5000);
    let graph = search.graph();
    assert!(
        graph.ids().all(|id| !graph.node(id).state.is_solved() || graph.node(id).has(node_flag::TERMINAL))
    );
}

#[test]
fn any_number_of_threads_gives_the_same_graph() {
    for preset in ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined"] {
        let prints: Vec<String> = [1, 2, 4]
            .iter()
            .map(|&threads| {
                fingerprint(
                    &searched(Lattice::new(8, 40, 60), Settings { threads, ..settings(preset) }, 4000).0,
                )
            })
            .collect();
        assert!(prints[0].len() > 10_000 && prints.iter().all(|print| *print == prints[0]), "{preset}");
    }
}

#[test]
fn marks_are_zero_when_nothing_is_in_flight_and_an_abandoned_batch_leaves_no_trace() {
    let mut search =
        Search::new(settings("mcgs-combined"), Some(Arc::new(Drawn)), Lattice::new(2, 40, 40), &[]);
    let mut pool = Pool::new(1);
    go(&mut search, &mut pool, 500);
    assert_eq!(search.in_flight_marks(), 0);
    let visits = search.graph().node(search.root()).visits;
    let stop = AtomicBool::new(false);
    let batches: Vec<_> = (0..2).map(|_| search.collect(&Default::default(), &stop)).collect();
    assert!(search.in_flight_marks() > 0 && search.flying() > 0);
    for batch in batches {
        search.abandon(batch);
    }
    assert_eq!((search.in_flight_marks(), search.flying()), (0, 0));
    go(&mut search, &mut pool, 500);
    assert!(search.graph().node(search.root()).visits > visits);
    assert_identity(&search);
}

#[test]
fn reuse_keeps_exactly_what_is_reachable() {
    let game = Lattice::new(4, 40, 50);
    let (mut search, _) = searched(game.clone(), settings("mcgs"), 3000);
    let mv = search.graph().edge(search.root(), search.choice().unwrap()).mv;
    let child = search.graph().edges(search.root()).iter().find(|edge| edge.mv == mv).unwrap().child;
    let (visits, value) = (search.graph().node(child).visits, search.graph().node(child).value);
    let mut reachable = vec![child];
    let mut at = 0;
    while at < reachable.len() {
        for edge in search.graph().edges(reachable[at]) {
            if edge.child != NONE && !reachable.contains(&edge.child) {
                reachable.push(edge.child);
            }
        }
        at += 1;
    }
    assert!(search.move_to(game, &[mv]));
    assert!(search.tidy(&AtomicBool::new(false)));
    assert_eq!(search.graph().len(), reachable.len());
    let root = search.graph().node(search.root());
    assert_eq!((root.visits, root.value), (visits, value));
    go(&mut search, &mut Pool::new(1), 1000);
    assert_eq!(search.graph().node(search.root()).visits, visits + 1000);
    assert_identity(&search);
}

#[test]
fn memory_cap_holds_while_visits_rise() {
    let cap = 4 << 20;
    for preset in ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined"] {
        let settings = Settings { memory: cap, ..settings(preset) };
        let mut search = Search::new(settings, Some(Arc::new(Drawn)), Lattice::new(6, 60, 1 << 40), &[]);
        let mut pool = Pool::new(1);
        let mut last = 0;
        for round in 0..6 {
            go(&mut search, &mut pool, 20_000);
            let visits = search.graph().node(search.root()).visits;
            assert!(visits > last + 19_000, "{preset} round {round}: {visits} after {last}");
            assert!(search.graph().reserved_bytes() <= cap as usize);
            last = visits;
        }
        assert!(search.graph().len() < 60_000, "{preset}: {}", search.graph().len());
        for edge in search.graph().edges(search.root()) {
            assert!(edge.q.abs() <= 1.0);
        }
    }
}

#[test]
fn explorations_leave_ancestors_untouched() {
    let settings = Settings {
        epsilon_greedy: 1.0,
        epsilon_checks: 0.0,
        solver: false,
        backup: Backup::Tree,
        ..settings("alphazero")
    };
    let mut search = Search::new(settings, Some(Arc::new(Drawn)), Lattice::new(9, 40, 1 << 40), &[]);
    go(&mut search, &mut Pool::new(1), 2000);
    let root = search.graph().node(search.root());
    let (simulations, explorations) = (search.counters().simulations, search.counters().explorations);
    assert!(explorations >= simulations - 20);
    let visits: u32 = search.graph().edges(search.root()).iter().map(|edge| edge.visits).sum();
    assert_eq!(root.visits, visits + 1);
    let share = f64::from(visits) / explorations as f64;
    assert!((share - 0.5).abs() < 0.06, "half of the explorations branch at the root: {share}");
}

#[test]
fn both_merge_keys_merge() {
    for merge in [Merge::Ply, Merge::Clock] {
        let (search, _) = searched(Lattice::new(1, 40, 30), Settings { merge, ..settings("mcgs") }, 2000);
        assert!(search.counters().transposition_links > 100);
        assert_identity(&search);
    }
}
