//! Move choice at the root, Eq. (12) to (15), and the other choosers.
//!
//! Works on a table of candidates, so that its equations can be tested on given numbers; does not depend on
//! how the numbers came about.

use crate::graph::{Edge, Graph, NONE, NodeId, State, edge_flag};
use crate::random::Random;
use crate::search::root_moves::RootMoves;
use crate::search::solver::seen_from;
use crate::settings::{Chooser, Settings, SolverRule};

/// The statistics of a root edge that move choice uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    /// N.
    pub visits: u32,
    /// Q.
    pub q: f64,
}

impl Contender {
    /// The numbers of an edge.
    pub fn new(edge: &Edge) -> Contender {
        Contender { visits: edge.visits, q: edge.q }
    }
}

/// Eq. (12): the share of visits.
pub fn visit_policy(options: &[Contender]) -> Vec<f64> {
    let sum: f64 = options.iter().map(|option| f64::from(option.visits)).sum();
    options.iter().map(|option| f64::from(option.visits) / sum).collect()
}

/// Eq. (13), (14), (15): boosts the second most visited move when its value is higher.
pub fn correct_by_value(options: &[Contender], policy: &mut [f64], q_weight: f64) {
    let first = |skip: Option<usize>| {
        let mut best: Option<usize> = None;
        for (i, option) in options.iter().enumerate() {
            if Some(i) != skip && best.is_none_or(|b| option.visits > options[b].visits) {
                best = Some(i);
            }
        }
        best
    };
    let Some(alpha) = first(None) else { return };
    let Some(beta) = first(Some(alpha)) else { return };
    let q_delta = options[beta].q - options[alpha].q;
    if q_delta > 0.0 {
        policy[beta] += q_weight * q_delta * policy[alpha];
        normalise(policy);
    }
}

fn normalise(policy: &mut [f64]) {
    let sum: f64 = policy.iter().sum();
    if sum > 0.0 {
        policy.iter_mut().for_each(|share| *share /= sum);
    }
}

/// Eq. (W1): what the secure child has most of, its value less a term that shrinks with visits.
pub fn secure_value(option: &Contender, weight: f64) -> f64 {
    option.q - weight / f64::from(option.visits).sqrt()
}

/// The policy of the chooser, before the temperature.
pub fn policy(options: &[Contender], settings: &Settings) -> Vec<f64> {
    let mut policy = visit_policy(options);
    match settings.chooser {
        Chooser::Visits => {}
        Chooser::Q => correct_by_value(options, &mut policy, settings.q_weight),
        Chooser::Linear => {
            let mut shares: Vec<f64> = options.iter().map(|option| (option.q + 1.0) / 2.0).collect();
            if shares.iter().sum::<f64>() > 0.0 {
                normalise(&mut shares);
                let weight = settings.linear_weight;
                policy
                    .iter_mut()
                    .zip(shares)
                    .for_each(|(pi, share)| *pi = (1.0 - weight) * *pi + weight * share);
            }
        }
        Chooser::Secure => {
            let values: Vec<f64> =
                options.iter().map(|option| secure_value(option, settings.secure_weight)).collect();
            let best = values.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            let best = values.iter().position(|&value| value == best);
            policy
                .iter_mut()
                .enumerate()
                .for_each(|(i, share)| *share = f64::from(u8::from(Some(i) == best)));
        }
        Chooser::Bound => {
            let most = f64::from(options.iter().map(|option| option.visits).max().unwrap_or(0));
            let bound = |option: &Contender| {
                option.q
                    - settings.bound_width
                        * ((1.0 - option.q * option.q).max(0.0) / f64::from(option.visits)).sqrt()
            };
            let mut best: Option<usize> = None;
            for (i, option) in options.iter().enumerate() {
                if f64::from(option.visits) >= 0.1 * most
                    && best.is_none_or(|b| bound(option) > bound(&options[b]))
                {
                    best = Some(i);
                }
            }
            policy
                .iter_mut()
                .enumerate()
                .for_each(|(i, share)| *share = f64::from(u8::from(Some(i) == best)));
        }
    }
    policy
}

/// Applies the temperature and picks: the first maximum at temperature 0, else a draw.
pub fn pick(policy: &[f64], temperature: f64, random: &mut Random) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (i, &share) in policy.iter().enumerate() {
        if best.is_none_or(|b| share > policy[b]) {
            best = Some(i);
        }
    }
    let most = policy[best?];
    if temperature <= 0.0 || policy.len() == 1 || most <= 0.0 {
        return best;
    }
    let mut sharpened: Vec<f64> =
        policy.iter().map(|share| libm::pow(share / most, 1.0 / temperature)).collect();
    normalise(&mut sharpened);
    let drawn = random.uniform();
    let mut sum = 0.0;
    for (i, share) in sharpened.iter().enumerate() {
        sum += share;
        if drawn < sum {
            return Some(i);
        }
    }
    sharpened.iter().rposition(|&share| share > 0.0)
}

/// The slot of the move to play at a node, one of `root_moves`; `None` when no edge is open.
pub fn choose(
    graph: &Graph,
    id: NodeId,
    root_moves: &RootMoves,
    settings: &Settings,
    random: &mut Random,
) -> Option<u16> {
    let edges = graph.edges(id);
    if let Some(slot) = forced_choice(graph, id, root_moves, settings) {
        return Some(slot);
    }
    let is_free = |slot: &u16| !settings.solver || !edges[*slot as usize].has(edge_flag::PRUNED);
    let free: Vec<u16> = root_moves.slots(graph, id).filter(is_free).collect();
    pick_among(graph, id, &free, settings, random)
}

/// Chooses among some edges of a node by the policy of the visited ones; the first where none is.
pub fn pick_among(
    graph: &Graph,
    id: NodeId,
    slots: &[u16],
    settings: &Settings,
    random: &mut Random,
) -> Option<u16> {
    let is_visited = |slot: &u16| graph.edge(id, *slot).visits > 0;
    let visited: Vec<u16> = slots.iter().copied().filter(is_visited).collect();
    if visited.is_empty() {
        return slots.first().copied();
    }
    let options: Vec<Contender> = visited.iter().map(|&slot| Contender::new(graph.edge(id, slot))).collect();
    pick(&policy(&options, settings), settings.temperature, random).map(|index| visited[index])
}

/// The slot of the move that proofs decide, where they do.
pub fn forced_choice(graph: &Graph, id: NodeId, root_moves: &RootMoves, settings: &Settings) -> Option<u16> {
    match settings.solver_rule {
        _ if !settings.solver => None,
        SolverRule::ExactWin2 => forced(graph, id, root_moves),
        SolverRule::ExactWin | SolverRule::MctsSolver => forced_by_state(graph, id, root_moves),
    }
}

/// The first move that is proven to win; where every move loses, the most visited. Lengths do not count.
fn forced_by_state(graph: &Graph, id: NodeId, root_moves: &RootMoves) -> Option<u16> {
    let edges = graph.edges(id);
    let is_win = |slot: &u16| {
        let child = edges[*slot as usize].child;
        child != NONE && seen_from(graph, id, child) == State::Win
    };
    let lost = || {
        root_moves.is_fully_opened(graph, id)
            && root_moves.slots(graph, id).all(|slot| edges[slot as usize].has(edge_flag::PRUNED))
    };
    let most_visited = || root_moves.slots(graph, id).rev().max_by_key(|&slot| edges[slot as usize].visits);
    root_moves.slots(graph, id).find(is_win).or_else(|| if lost() { most_visited() } else { None })
}

/// A proven win is taken, the shortest; where every move loses, the one that a tablebase alone condemns, or
/// the longest.
fn forced(graph: &Graph, id: NodeId, root_moves: &RootMoves) -> Option<u16> {
    let edges = graph.edges(id);
    let mut win: Option<(u16, u16)> = None;
    let mut last_stand: Option<(bool, u32, u16)> = None;
    for slot in root_moves.slots(graph, id) {
        let edge = &edges[slot as usize];
        if edge.child == NONE {
            continue;
        }
        let child = graph.node(edge.child);
        match seen_from(graph, id, edge.child) {
            State::Win if win.is_none_or(|(plies, _)| child.end_in_ply < plies) => {
                win = Some((child.end_in_ply, slot))
            }
            State::TbLoss if last_stand.is_none_or(|(tb, rank, _)| !tb || edge.visits > rank) => {
                last_stand = Some((true, edge.visits, slot));
            }
            State::Loss
                if last_stand.is_none_or(|(tb, rank, _)| !tb && u32::from(child.end_in_ply) > rank) =>
            {
                last_stand = Some((false, u32::from(child.end_in_ply), slot));
            }
            _ => {}
        }
    }
    let lost = root_moves.is_fully_opened(graph, id)
        && root_moves.slots(graph, id).all(|slot| edges[slot as usize].has(edge_flag::PRUNED));
    win.map(|(_, slot)| slot).or(if lost { last_stand.map(|(.., slot)| slot) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(numbers: &[(u32, f64)]) -> Vec<Contender> {
        numbers.iter().map(|&(visits, q)| Contender { visits, q }).collect()
    }

    fn chosen(numbers: &[(u32, f64)], settings: &Settings) -> usize {
        pick(&policy(&options(numbers), settings), settings.temperature, &mut Random::new(1)).unwrap()
    }

    #[test]
    fn equations_12_to_15() {
        let table = options(&[(60, 0.0), (40, 0.2)]);
        let mut pi = visit_policy(&table);
        assert_eq!(pi, vec![0.6, 0.4]);
        correct_by_value(&table, &mut pi, 2.0);
        let (a, b) = (0.6, 0.4 + 2.0 * 0.2 * 0.6);
        assert!((pi[0] - a / (a + b)).abs() < 1e-12 && (pi[1] - b / (a + b)).abs() < 1e-12);
        let settings = Settings { chooser: Chooser::Q, ..Settings::default() };
        assert_eq!(chosen(&[(60, 0.0), (40, 0.2)], &settings), 1, "the move switches at temperature 0");
        assert_eq!(chosen(&[(60, 0.0), (40, -0.2)], &settings), 0);
        assert_eq!(chosen(&[(90, 0.0), (10, 0.2)], &settings), 0);
        assert_eq!(
            chosen(&[(60, 0.0), (40, 0.2)], &Settings { chooser: Chooser::Visits, ..Settings::default() }),
            0
        );
    }

    #[test]
    fn only_the_second_is_boosted() {
        let table = options(&[(60, 0.0), (10, 0.9), (30, 0.0)]);
        let mut pi = visit_policy(&table);
        correct_by_value(&table, &mut pi, 2.0);
        assert_eq!(pi, vec![0.6, 0.1, 0.3]);
    }

    #[test]
    fn other_choosers() {
        let linear = Settings { chooser: Chooser::Linear, ..Settings::default() };
        assert_eq!(chosen(&[(60, -0.5), (40, 0.9)], &linear), 1);
        let bound = Settings { chooser: Chooser::Bound, ..Settings::default() };
        assert_eq!(
            chosen(&[(1000, 0.30), (400, 0.50), (3, 0.99)], &bound),
            1,
            "three visits are too few to count"
        );
        assert_eq!(chosen(&[(1000, 0.30), (101, 0.31)], &bound), 0);
        let secure = Settings { chooser: Chooser::Secure, ..Settings::default() };
        // 0.3 - 1/10 against 0.5 - 1/2; with a weight of 0.1 the second is worth more.
        assert_eq!(chosen(&[(100, 0.3), (4, 0.5)], &secure), 0);
        assert_eq!(chosen(&[(100, 0.3), (4, 0.5)], &Settings { secure_weight: 0.1, ..secure }), 1);
    }

    #[test]
    fn temperature_draws_in_proportion() {
        let settings = Settings { chooser: Chooser::Visits, temperature: 1.0, ..Settings::default() };
        let shares = policy(&options(&[(75, 0.0), (25, 0.0)]), &settings);
        let mut random = Random::new(9);
        let first = (0..4000).filter(|_| pick(&shares, 1.0, &mut random) == Some(0)).count();
        assert!((first as i32 - 3000).abs() < 120, "{first}");
    }
}
