//! What a network plays: a variant of chess, or a game on a grid; and the sizes that follow from it.

use super::context::CONTEXTS;
use super::features::FEATURES;
use super::patterns::Patterns;
use crate::game::Game;
use crate::games::chess::{Variant, policy};
use crate::games::grid::catalogue::Named;

/// What a network plays.
#[derive(Clone, Debug)]
pub(super) enum Plays {
    /// Chess or crazyhouse.
    Chess(Variant),
    /// A game on a grid.
    Grid(Named),
}

impl Plays {
    /// What a name means, if networks play it.
    pub fn parse(name: &str) -> Option<Plays> {
        match name {
            "chess" => Some(Plays::Chess(Variant::Chess)),
            "crazyhouse" => Some(Plays::Chess(Variant::Crazyhouse)),
            _ => Named::parse(name).ok().filter(|named| named.name == name).map(Plays::Grid),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Plays::Chess(variant) => variant.name(),
            Plays::Grid(named) => &named.name,
        }
    }

    /// The versions of inputs and policy.
    pub fn versions(&self) -> [(&'static str, &'static str); 2] {
        match self {
            Plays::Chess(_) => [("inputs", "sparse-1"), ("policy", "moves-1")],
            Plays::Grid(_) => [("inputs", "grid-1"), ("policy", "actions-1")],
        }
    }

    /// Sizes of the tables: features, contexts, moves.
    pub fn sizes(&self, patterns: Option<&Patterns>) -> Sizes {
        match self {
            Plays::Chess(variant) => {
                Sizes { features: FEATURES, contexts: CONTEXTS, moves: policy::size(*variant) }
            }
            Plays::Grid(named) => Sizes {
                features: patterns.map_or(0, Patterns::features),
                contexts: 1,
                moves: named.start().policy_size(),
            },
        }
    }
}

/// Rows of the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Of the inputs.
    pub features: usize,
    /// Of the contexts of moves.
    pub contexts: usize,
    /// Of the moves.
    pub moves: usize,
}
