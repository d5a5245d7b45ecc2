//! Tests at the bounds of counters and indices.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use shakmaty::Chess;

use crate::evaluators;
use crate::game::Game;
use crate::games::chess::{Board, Variant};
use crate::graph::{MOST_VISITS, NONE, NodeId};
use crate::run::drive::{Finish, Limits, run};
use crate::run::pool::Pool;
use crate::search::{Budget, Search};
use crate::settings::{Backup, Settings};

fn search(settings: Settings) -> Search<Board<Chess>> {
    let evaluator = evaluators::by_name("material", 0).unwrap();
    Search::new(settings, Some(evaluator), Board::start(Variant::Chess).unwrap(), &[])
}

fn go(search: &mut Search<Board<Chess>>, simulations: u64) -> Finish {
    search.reset_counters();
    let limits =
        Limits { budget: Budget { simulations: Some(simulations), evaluations: None }, ..Limits::default() };
    run(search, &mut Pool::new(1), limits, &Arc::new(AtomicBool::new(false)), &mut |_| {})
}

/// Adds visits to a node and its most visited edge, as if a long search had been there.
fn wear(search: &mut Search<Board<Chess>>, id: NodeId, visits: u32) -> u16 {
    let slot =
        (0..search.graph.node(id).opened).max_by_key(|&slot| search.graph.edge(id, slot).visits).unwrap();
    let more = visits - search.graph.node(id).visits;
    search.graph.edge_mut(id, slot).visits += more;
    search.graph.node_mut(id).visits += more;
    slot
}

fn nothing_wrapped(search: &Search<Board<Chess>>) {
    for id in search.graph.ids() {
        let sum: u64 = search.graph.edges(id).iter().map(|edge| u64::from(edge.visits)).sum();
        assert!(sum < u64::from(search.graph.node(id).visits).max(1));
    }
}

#[test]
fn a_search_ends_before_the_visits_of_the_root_can_wrap() {
    for backup in [Backup::Tree, Backup::Naive, Backup::Paper, Backup::Delta, Backup::Recompute] {
        let mut search = search(Settings {
            backup,
            batch_size: 16,
            epsilon_greedy: 0.0,
            epsilon_checks: 0.0,
            ..Settings::default()
        });
        assert_eq!(go(&mut search, 500), Finish::Budget);
        let root = search.root;
        wear(&mut search, root, MOST_VISITS - 100);
        assert_eq!(go(&mut search, 1_000_000), Finish::Visits, "{backup:?}");
        assert_eq!(Finish::Visits.as_str(), "visits");
        let done = search.counters.simulations;
        assert!(
            (100..100 + 2 * 16 + 1).contains(&done),
            "what was in flight is counted, nothing else: {done}"
        );
        assert_eq!(u64::from(search.graph.node(root).visits), u64::from(MOST_VISITS) - 100 + done);
        assert_eq!((search.flying, search.best_code().is_some()), (0, true));
        nothing_wrapped(&search);
        assert_eq!(
            (go(&mut search, 1000), search.counters.simulations),
            (Finish::Visits, 0),
            "it stays at its end"
        );
        search.restart(search.origin.clone(), &[]);
        assert_eq!(go(&mut search, 1000), Finish::Budget, "a new graph counts anew");
    }
}

#[test]
fn a_node_below_the_root_ends_it_too_and_what_is_left_behind_does_not() {
    let mut search = search(Settings::default());
    assert_eq!(go(&mut search, 2000), Finish::Budget);
    let root = search.root;
    let slot =
        (0..search.graph.node(root).opened).max_by_key(|&slot| search.graph.edge(root, slot).visits).unwrap();
    let child = search.graph.edge(root, slot).child;
    wear(&mut search, child, MOST_VISITS - 10);
    assert_eq!(go(&mut search, 1_000_000), Finish::Visits);
    assert!(search.counters.simulations < 2000 && search.graph.node(root).visits < 5000);
    nothing_wrapped(&search);
    // Another move leaves the worn node behind; the same move keeps it.
    let other = search
        .graph
        .edges(root)
        .iter()
        .find(|edge| edge.child != NONE && edge.child != child && edge.visits > 10)
        .unwrap()
        .mv;
    let worn = search.graph.edge(root, slot).mv;
    assert!(search.move_to(search.origin.clone(), &[other]));
    assert_eq!(go(&mut search, 100), Finish::Budget);
    assert_ne!(worn, other);
}

#[test]
fn a_worn_node_that_becomes_the_root_still_ends_the_search() {
    let mut search = search(Settings::default());
    go(&mut search, 2000);
    let root = search.root;
    let slot =
        (0..search.graph.node(root).opened).max_by_key(|&slot| search.graph.edge(root, slot).visits).unwrap();
    let (child, mv) = (search.graph.edge(root, slot).child, search.graph.edge(root, slot).mv);
    wear(&mut search, child, MOST_VISITS - 10);
    assert_eq!(go(&mut search, 1_000_000), Finish::Visits);
    assert!(search.move_to(search.origin.clone(), &[mv]));
    assert_eq!((go(&mut search, 1000), search.counters.simulations), (Finish::Visits, 0));
    assert!(search.best_code().is_some());
}

#[test]
fn where_indices_end_the_search_goes_on_as_at_the_memory_cap() {
    for backup in [Backup::Tree, Backup::Paper] {
        let mut search = search(Settings { backup, ..Settings::default() });
        let most = 6000;
        search.graph.set_most_items(most);
        assert_eq!(go(&mut search, 60_000), Finish::Budget, "{backup:?}");
        assert!(search.counters.reclaims > 1, "{:?}", search.counters);
        assert!(search.graph.id_bound() as usize <= most);
        assert!(
            search.graph.reserved_bytes() < 2 << 20,
            "far below the cap of {} bytes",
            search.settings.memory
        );
        nothing_wrapped(&search);
    }
}

#[test]
fn trajectories_in_flight_never_exceed_what_a_mark_can_count() {
    // Every leaf of a tree without evaluations collides or waits: nothing but the bound may end the
    // collection before the wide settings do.
    let settings = Settings {
        batch_size: 4096,
        batch_collisions: 4096,
        width_visits: 0,
        backup: Backup::Tree,
        ..Settings::default()
    };
    let mut search = search(settings);
    go(&mut search, 3000);
    search.flying = u64::from(u16::MAX) - 3;
    let batch = search.collect(&Budget::default(), &AtomicBool::new(false));
    assert!(search.flying <= u64::from(u16::MAX) && !batch.pending.is_empty() && batch.pending.len() <= 3);
    assert!(search.position().ply() == 0);
}
