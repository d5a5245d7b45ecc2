//! Connect Four as rows of bytes, made of the core's own: the same moves, ends and proofs, in few calls.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::evaluators::Uniform;
use crate::games::grid::{ConnectFour, GridGame};
use crate::graph::NONE;
use crate::random::Random;
use crate::run::drive::{Limits, run};
use crate::run::pool::Pool;
use crate::search::{Budget, Search};
use crate::settings::Settings;

/// A row is the text of a position; the rules know the positions whose rows they have made.
struct Rules {
    shape: RowShape,
    known: Mutex<HashMap<Vec<u8>, ConnectFour>>,
    calls: AtomicUsize,
    rows: AtomicUsize,
    fails: AtomicBool,
}

fn row_of(game: &ConnectFour) -> Vec<u8> {
    game.text().into_bytes()
}

impl Rules {
    fn describe(&self, games: &[ConnectFour]) -> Rows {
        let mut rows = Rows::default();
        for game in games {
            let (row, mut moves) = (row_of(game), Vec::new());
            game.legal_moves(&mut moves);
            rows.legal.push(moves.iter().fold(0, |bits, mv| bits | 1 << mv.0));
            rows.players.push(game.player());
            rows.values.push(game.ending(&moves).map_or(f64::NAN, Ending::value));
            rows.rows.extend_from_slice(&row);
            self.known.lock().unwrap().insert(row, *game);
        }
        rows
    }
}

impl RowRules for Rules {
    fn shape(&self) -> &RowShape {
        &self.shape
    }

    fn play(&self, rows: &[u8], actions: &[u16]) -> Option<Rows> {
        if self.fails.load(Ordering::Relaxed) {
            return None;
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(actions.len(), Ordering::Relaxed);
        let play = |(row, &action): (&[u8], &u16)| {
            let mut game = self.known.lock().unwrap()[row];
            game.play(MoveCode(action));
            game
        };
        let games: Vec<ConnectFour> = rows.chunks_exact(self.shape.bytes).zip(actions).map(play).collect();
        Some(self.describe(&games))
    }

    fn features(&self, _rows: &[u8], out: &mut [f32]) -> Option<()> {
        out.fill(0.5);
        Some(())
    }

    fn text(&self, row: &[u8]) -> Option<String> {
        String::from_utf8(row.to_vec()).ok()
    }

    fn picture(&self, row: &[u8]) -> Option<String> {
        self.text(row)
    }

    fn read(&self, _text: &str) -> Result<Rows, String> {
        Err("it reads nothing".to_owned())
    }

    fn has_no_end(&self) {
        self.fails.store(true, Ordering::Relaxed);
    }
}

fn rules() -> Arc<Rules> {
    let shape = RowShape {
        bytes: row_of(&ConnectFour::default()).len(),
        actions: (1..=7).map(|column| column.to_string()).collect(),
        planes: [1, 1, 1],
        can_recur: false,
        takes_turns: true,
        most_moves: 100,
    };
    let (calls, rows) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Arc::new(Rules { shape, known: Mutex::default(), calls, rows, fails: AtomicBool::new(false) })
}

fn start(rules: &Arc<Rules>) -> RowGame {
    let first = rules.describe(&[ConnectFour::default()]);
    RowGame::new(Arc::clone(rules) as Arc<dyn RowRules>, &first)
}

fn search(rules: &Arc<Rules>, settings: Settings, moves: &[u16]) -> Search<GridGame> {
    let played: Vec<MoveCode> = moves.iter().map(|&mv| MoveCode(mv)).collect();
    Search::new(settings, Some(Arc::new(Uniform)), GridGame::Rows(start(rules)), &played)
}

fn settings() -> Settings {
    Settings { batch_size: 64, batches_in_flight: 1, width_visits: 8, mate_root: 0.0, ..Settings::default() }
}

fn go_on(search: &mut Search<GridGame>, simulations: u64) {
    let budget = Budget { simulations: Some(search.counters().simulations + simulations), evaluations: None };
    let limits = Limits { budget, ..Limits::default() };
    run(search, &mut Pool::new(1), limits, &Arc::new(AtomicBool::new(false)), &mut |_| {});
}

#[test]
fn random_games_agree_with_the_core() {
    let rules = rules();
    let mut random = Random::new(3);
    for _ in 0..30 {
        let (mut ours, mut core) = (start(&rules), ConnectFour::default());
        let (mut found, mut known) = (Vec::new(), Vec::new());
        loop {
            core.legal_moves(&mut known);
            ours.legal_moves(&mut found);
            assert_eq!((ours.ending(&found), ours.player()), (core.ending(&known), core.player()));
            if core.ending(&known).is_some() {
                break;
            }
            assert_eq!(found, known);
            let mv = known[random.index(known.len())];
            assert!(!ours.try_play(mv) && ours.fetch() && ours.try_play(mv));
            core.play(mv);
            assert_eq!(ours.recall(ours.key(), ours.ply()).unwrap().text(), core.text());
        }
    }
}

#[test]
fn a_search_makes_few_calls_and_merges_equal_rows() {
    let rules = rules();
    let mut search = search(&rules, settings(), &[3, 3]);
    go_on(&mut search, 4000);
    let (calls, rows) = (rules.calls.load(Ordering::Relaxed), rules.rows.load(Ordering::Relaxed));
    assert_eq!(search.counters().simulations, 4000);
    assert!(calls < 400 && rows > 2000, "{calls} calls for {rows} rows");
    assert!(search.counters().transposition_links > 500);
    assert_eq!(search.in_flight_marks(), 0);
    for id in search.graph().ids() {
        let key = search.graph().node(id).key;
        assert!(id == search.root() || search.position().recall(key, 0).is_some());
    }
}

/// Compares every edge below a node with the rules; how many there are.
fn check_edges(search: &Search<GridGame>, id: u32, game: &GridGame, seen: &mut HashSet<u32>) -> usize {
    if !seen.insert(id) {
        return 0;
    }
    let mut count = 0;
    for edge in search.graph().edges(id).iter().filter(|edge| edge.child != NONE) {
        let mut after = game.clone();
        after.play(edge.mv);
        assert_eq!(search.graph().node(edge.child).key, after.key(), "{}", game.text());
        count += 1 + check_edges(search, edge.child, &after, seen);
    }
    count
}

#[test]
fn edges_lead_to_the_positions_after_their_moves() {
    // Explorations begin below the root, and wait for positions like others.
    let exploring = Settings { epsilon_greedy: 0.4, wave_least: 0, ..settings() };
    for settings in [exploring.clone(), Settings { wave_least: 4, ..exploring }] {
        let rules = rules();
        let mut search = search(&rules, settings, &[]);
        go_on(&mut search, 3000);
        assert!(search.counters().explorations > 500);
        let game = search.position().clone();
        assert!(check_edges(&search, search.root(), &game, &mut HashSet::new()) > 1000);
    }
}

#[test]
fn other_ways_of_collection_make_few_calls_too() {
    // Proven draws are skipped, which waves do not do: one simulation after another.
    let rules = rules();
    let skipping = Settings { skip_draws: true, ..settings() };
    let mut search = search(&rules, skipping, &[]);
    go_on(&mut search, 2000);
    let calls = rules.calls.load(Ordering::Relaxed);
    assert_eq!((search.counters().simulations, search.in_flight_marks()), (2000, 0));
    assert!(calls < 500, "{calls} calls");
}

#[test]
fn memory_is_capped_and_rows_go_with_their_nodes() {
    let rules = rules();
    let capped = Settings { memory: 1 << 20, ..settings() };
    let mut search = search(&rules, capped, &[]);
    go_on(&mut search, 20_000);
    assert!(search.counters().reclaims > 0);
    let stored = search.position().stored_bytes();
    let most = search.graph().len() * (search.position().bytes_per_position() + 16) + (64 << 10);
    assert!(stored <= most, "{stored} bytes for {} nodes", search.graph().len());
    assert!(search.move_to(GridGame::Rows(start(&rules)), &[MoveCode(3)]));
    go_on(&mut search, 1000);
    assert_eq!(search.in_flight_marks(), 0);
}

#[test]
fn rules_that_fail_end_the_collection() {
    let rules = rules();
    let mut search = search(&rules, settings(), &[]);
    go_on(&mut search, 500);
    rules.fails.store(true, Ordering::Relaxed);
    let stop = AtomicBool::new(false);
    let before = search.counters().simulations;
    let batch = search.collect(&Budget::default(), &stop);
    search.abandon(batch);
    assert_eq!(search.in_flight_marks(), 0);
    rules.fails.store(false, Ordering::Relaxed);
    go_on(&mut search, 500);
    assert_eq!(search.counters().simulations, before + 500);
}

#[test]
fn playouts_do_not_depend_on_what_stands_beside() {
    let rules = rules();
    let mut second = start(&rules);
    second.play(MoveCode(3));
    let first = start(&rules);
    let never = || false;
    let both = RowGame::playouts(&[&first, &second], 20, 7, &never).unwrap();
    let alone = RowGame::playouts(&[&second], 20, 7, &never).unwrap();
    assert_eq!(both[1], alone[0]);
    assert!(both[0] > both[1], "{both:?}");
}
