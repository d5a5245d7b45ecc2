//! The twigs of a wave in games whose positions are made many at a time.
//!
//! A twig that misses a position asks for it and is followed again when it is there. All that the twigs miss
//! is made at once, so a wave takes a few calls of the rules, however many visits it has.

use super::descend::{Descent, Hands, Part, Twigs};
use super::{Act, Landing, View};
use crate::game::Game;

/// Visits of a wave for each visit that is not waited for any more: a call of the rules for a few positions
/// costs as much as one for many. What they miss is made with the next wave.
const FEW: u32 = 16;
/// Calls of the rules after which a few visits are not waited for.
const LEAST_CALLS: u32 = 2;

/// What a wave of visits finds: the trunk and its twigs.
pub(in crate::search) fn descend_fetching<G: Game>(
    view: &View<'_, G>,
    hands: &mut Hands<G>,
    twigs: &mut Twigs,
    visits: u32,
) -> Vec<Part<G>> {
    let root = view.start.root();
    let trunk = loop {
        twigs.clear();
        let mut descent = Descent {
            view,
            trunk: &[],
            hands: &mut *hands,
            part: Part::default(),
            twigs: Some(&mut *twigs),
            is_missing: false,
        };
        descent.grow_trunk(visits);
        if !descent.is_missing || !root.fetch() {
            break descent.part;
        }
    };
    let mut found: Vec<Part<G>> = (0..twigs.len()).map(|_| Part::default()).collect();
    let mut waiting: Vec<usize> = (0..twigs.len()).collect();
    let mut calls = 0;
    while !waiting.is_empty() {
        waiting.retain(|&twig| {
            let mut descent = Descent {
                view,
                trunk: &trunk.stems,
                hands: &mut *hands,
                part: Part::default(),
                twigs: None,
                is_missing: false,
            };
            descent.follow_twig(twigs, twig);
            let (part, is_missing) = (descent.part, descent.is_missing);
            recycle(std::mem::replace(&mut found[twig], part), hands);
            is_missing
        });
        let left: u32 = waiting.iter().map(|&twig| twigs.visits(twig)).sum();
        let are_few = calls >= LEAST_CALLS && left <= visits / FEW;
        if left == 0 || are_few || !root.fetch() {
            break;
        }
        calls += 1;
    }
    let mut parts = vec![trunk];
    parts.append(&mut found);
    parts
}

/// Keeps the leaves of what is found again.
fn recycle<G>(part: Part<G>, hands: &mut Hands<G>) {
    for act in part.acts {
        if let Act::Land { landing: Landing::Leaf(leaf), .. } = act {
            hands.spares.push(leaf);
        }
    }
}
