//! From position to position: a new graph, or the part of the present one that the game still reaches.
//!
//! What is out of reach is only marked here; it is freed before the next simulation.

use std::sync::atomic::AtomicBool;

use super::Search;
use super::mates::Mates;
use super::nodes::{create, look_up, salt};
use super::path::Path;
use super::policies::Policies;
use super::tablebases::KnownRoot;
use crate::game::{Game, MoveCode};
use crate::graph::{Graph, NONE};
use crate::random::Random;

impl<G: Game> Search<G> {
    /// Starts a new graph.
    pub fn restart(&mut self, origin: G, played: &[MoveCode]) {
        self.graph.clear();
        self.forget_positions();
        self.graph.set_memory(self.graph_memory());
        self.graph.set_numbers(self.settings.pn_weight > 0.0);
        self.random = Random::new(self.settings.seed);
        self.place(origin, played);
        self.make_root();
    }

    /// Starts as a new search does: nothing stays of the graph, its memory and the search for mates.
    pub fn renew(&mut self, origin: G, played: &[MoveCode]) {
        self.graph = Graph::new(self.graph_memory());
        self.mates = Mates::default();
        self.policies = Policies::default();
        self.starved = false;
        self.restart(origin, played);
    }

    /// Starts a new graph at the same position.
    pub fn start_over(&mut self) {
        let (origin, played) = (self.origin.clone(), self.played.clone());
        self.restart(origin, &played);
    }

    fn place(&mut self, origin: G, played: &[MoveCode]) {
        self.improved = None;
        self.plan = None;
        self.below.clear();
        self.doubts = 0;
        self.path = Path::after(&origin, played);
        self.known_root =
            self.oracle.as_deref().and_then(|oracle| KnownRoot::rank(oracle, &self.path, &self.settings));
        self.mates.repeated = self.path.repeated().into();
        self.origin = origin;
        self.played = played.to_vec();
    }

    /// Sets the value of draws by the contempt of a player. Values in the graph stay as they are: it should
    /// be empty.
    pub(crate) fn take_side(&mut self, player: u8) {
        self.side = player;
        let contempt = self.settings.contempt;
        // Never a negative zero: without contempt nothing may change.
        let draws = if contempt == 0.0 {
            [0.0; 2]
        } else if player == 0 {
            [-contempt, contempt]
        } else {
            [contempt, -contempt]
        };
        self.graph.set_draws(draws);
    }

    /// Whether draws have the value that the side to move at the root gives them.
    pub fn is_on_side(&self) -> bool {
        self.settings.contempt == 0.0 || self.side == self.position().player()
    }

    fn make_root(&mut self) {
        self.take_side(self.position().player());
        self.make_room(&AtomicBool::new(false));
        self.path.restart();
        let game = self.path.position();
        let (key, salt) = (game.key(), salt(game, self.settings.merge));
        self.root = create(&mut self.graph, &mut self.moves, &self.settings, game, key, salt);
        look_up(&mut self.graph, self.root, self.oracle.as_deref(), &self.settings, game);
    }

    /// Moves on to another position of a game. Where it continues the present one, what lies below is kept;
    /// returns whether it was.
    pub fn move_to(&mut self, origin: G, played: &[MoveCode]) -> bool {
        debug_assert_eq!(self.flying, 0);
        let same_origin = (origin.key(), origin.ply(), origin.clock())
            == (self.origin.key(), self.origin.ply(), self.origin.clock());
        let continues = same_origin && played.starts_with(&self.played);
        if continues
            && played.len() == self.played.len()
            && (self.settings.reuse || self.graph.node(self.root).visits == 0)
        {
            return true;
        }
        if !continues || !self.settings.reuse {
            self.restart(origin, played);
            return false;
        }
        let mut node = self.root;
        for &mv in &played[self.played.len()..] {
            let Some(edge) = self.graph.edges(node).iter().find(|edge| edge.mv == mv) else {
                node = NONE;
                break;
            };
            node = edge.child;
            if node == NONE || !self.graph.is_kept(node) {
                node = NONE;
                break;
            }
        }
        self.place(origin, played);
        if node == NONE && self.settings.backup.merges() {
            // The table must not know what is out of reach already.
            self.graph.go_on(&|| false);
            let root = self.path.root();
            node = self.graph.find(root.key(), salt(root, self.settings.merge)).unwrap_or(NONE);
        }
        if node == NONE {
            self.graph.clear();
            self.forget_positions();
            self.random = Random::new(self.settings.seed);
            self.make_root();
            return false;
        }
        self.root = node;
        // What is out of reach now is freed before the next simulation.
        self.graph.keep_below(node);
        self.graph.node(node).visits > 0
    }
}
