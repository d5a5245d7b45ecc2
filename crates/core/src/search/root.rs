//! Results at the root: the move to play, the verdict, and whether its proof stands in this game.
//!
//! A proof in the graph has no history, so it is replayed with that of the game before it is claimed.
//! Tablebases guide the choice unless the search has found the end of the game itself.

use super::mate;
use super::proof::{self, ProofCheck};
use super::tablebases::KnownRoot;
use super::{Search, choose};
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{RankScratch, rank};
use crate::graph::{State, node_flag};
use crate::random::{Random, mix};

/// A verdict on the root that stands with the game's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Win, draw or loss for the side to move, or the same by tablebase.
    pub state: State,
    /// Length of the proof that was found, in plies; absent for tablebase verdicts.
    pub plies: Option<u32>,
    /// Whether that is the true distance.
    pub exact: bool,
}

impl<G: Game> Search<G> {
    /// Looks for the shortest proof of a root that is proven won or lost; then its length is the true
    /// distance. Ends early when `cancel` returns true.
    pub fn improve(&mut self, cancel: &dyn Fn() -> bool) {
        if self.is_over() || self.improved.is_some() || !self.position().takes_turns() {
            return;
        }
        let (state, most) = self.proven();
        let (game, most, root_moves) = (self.path.root(), u32::from(most), &self.root_moves);
        let found = match state {
            State::Win => mate::shortest_win(game, &self.path, most, root_moves, cancel),
            State::Loss => mate::longest_defence(&self.path, most, root_moves, cancel),
            _ => return,
        };
        self.improved = found.ok().flatten();
    }

    /// What the moves that may be chosen prove about the root, and in how many plies.
    pub fn proven(&self) -> (State, u16) {
        if self.root_moves.is_all() || self.settings.solver {
            self.root_moves.proven(&self.graph, self.root)
        } else {
            (State::Unknown, 0)
        }
    }

    fn choice_random(&self) -> Random {
        Random::new(mix(self.settings.seed ^ mix(u64::from(self.position().ply()))))
    }

    /// The slot of the move to play at the root.
    pub fn choice(&self) -> Option<u16> {
        let (graph, random) = (&self.graph, &mut self.choice_random());
        match self.guide() {
            Some(guide) => {
                let slots = guide.slots(graph, self.root, &self.root_moves);
                choose::pick_among(graph, self.root, &slots, &self.settings, random)
            }
            None => choose::forced_choice(graph, self.root, &self.root_moves, &self.settings)
                .or_else(|| self.planned_choice())
                .or_else(|| choose::choose(graph, self.root, &self.root_moves, &self.settings, random)),
        }
    }

    /// The likeliest move of an evaluated root that has no list of candidates yet.
    fn likeliest(&self, is_candidate: impl Fn(&MoveCode) -> bool) -> Option<MoveCode> {
        let node = self.graph.node(self.root);
        if !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) || node.opened > 0 {
            return None;
        }
        let evaluator = self.evaluator.as_ref()?;
        let game = self.path.root().clone();
        let mut leaf = Leaf { game, moves: Vec::new(), line: Vec::new(), repetitions: 0 };
        leaf.game.legal_moves(&mut leaf.moves);
        let (mut logits, mut list) = (Vec::new(), Vec::new());
        evaluator.logits(&leaf, &mut logits);
        let temperature = self.settings.node_temperature;
        rank(&leaf.moves, &logits, temperature, usize::MAX, &mut list, &mut RankScratch::default());
        list.iter().map(|candidate| candidate.mv()).find(is_candidate)
    }

    /// The move to play at the root, or the likeliest before anything is known.
    pub fn best_code(&self) -> Option<MoveCode> {
        let guide = self.guide();
        let is_candidate =
            |&mv: &MoveCode| self.root_moves.contains(mv) && guide.is_none_or(|guide| guide.keeps(mv));
        let shortest = || self.improved.as_ref().and_then(|improved| improved.line.first().copied());
        let chosen = || self.choice().map(|slot| self.graph.edge(self.root, slot).mv);
        let listed =
            || self.graph.candidates(self.root).iter().map(|candidate| candidate.mv()).find(is_candidate);
        let known = || guide.into_iter().flat_map(KnownRoot::moves).copied().find(is_candidate);
        shortest()
            .or_else(chosen)
            .or_else(listed)
            .or_else(|| self.likeliest(is_candidate))
            .or_else(known)
            .or_else(|| self.root_moves.moves().first().copied())
    }

    /// The root by the tablebases, unless the search has found the end of the game itself.
    pub(crate) fn guide(&self) -> Option<&KnownRoot> {
        self.known_moves().filter(|_| self.checked_proof().is_none())
    }

    /// The root by the tablebases, if they keep one of the moves that may be chosen.
    fn known_moves(&self) -> Option<&KnownRoot> {
        self.known_root.as_ref().filter(|known| known.moves().iter().any(|&mv| self.root_moves.contains(mv)))
    }

    /// The verdict on the root: what is proven with the game's history, else the result of the tablebases.
    pub fn verdict(&self) -> Option<Solved> {
        let by_tablebase = |state| Solved { state, plies: None, exact: false };
        self.checked_proof().or_else(|| match self.known_moves() {
            Some(known) => known.state.map(by_tablebase),
            None => {
                Some(self.proven().0).filter(|state| state.is_solved() && !state.is_exact()).map(by_tablebase)
            }
        })
    }

    /// What play to the end proves about the root, checked against the game's history.
    pub fn checked_proof(&self) -> Option<Solved> {
        let (state, plies) = self.proven();
        if let Some(improved) = &self.improved {
            return Some(Solved { state, plies: Some(improved.plies), exact: true });
        }
        match state {
            State::Unknown | State::TbWin | State::TbDraw | State::TbLoss => None,
            state => self.proof_stands(state).then(|| Solved {
                state,
                plies: Some(u32::from(plies)),
                exact: self.is_over() || (state == State::Win && plies == 1),
            }),
        }
    }

    fn proof_stands(&self, state: State) -> bool {
        self.check_of(state) == ProofCheck::Holds
    }

    fn check_of(&self, state: State) -> ProofCheck {
        let (graph, check) =
            (&self.graph, |slot| proof::check_after(&self.graph, self.root, slot, &self.path));
        match state {
            _ if self.root_moves.is_all() => proof::check(graph, self.root, &self.path),
            State::Win => {
                let chosen = choose::choose(
                    graph,
                    self.root,
                    &self.root_moves,
                    &self.settings,
                    &mut self.choice_random(),
                );
                chosen.map_or(ProofCheck::Fails, check)
            }
            State::Loss => {
                let slots = self.root_moves.slots(graph, self.root);
                slots.map(check).find(|&check| check != ProofCheck::Holds).unwrap_or(ProofCheck::Holds)
            }
            _ => ProofCheck::Holds,
        }
    }

    /// Whether play to the end proves something about the root, and whether it stands with the game's
    /// history.
    pub fn proof_check(&self) -> Option<ProofCheck> {
        let state = Some(self.proven().0).filter(|state| state.is_exact())?;
        Some(if self.improved.is_some() { ProofCheck::Holds } else { self.check_of(state) })
    }
}
