//! Certificates: a proof as text, one JSON object per line, that any program with the rules can check.
//!
//! `docs/proofs.md` describes the format. The header names the game and its history; each further line is a
//! position of the proof.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::proof::Proof;
use crate::game::Game;

/// What a proof is about: the game with its history, and the result for the side to move.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Name of the variant or the game.
    pub variant: String,
    /// Whether castling is written as the king takes the rook.
    pub chess960: bool,
    /// Where the game began.
    pub fen: String,
    /// The moves since.
    pub moves: Vec<String>,
    /// `win` or `loss`.
    pub result: &'static str,
}

/// Writes the certificate of a proof from a position.
pub fn write<G: Game>(claim: &Claim, proof: &Proof, game: &G) -> String {
    let header = json!({
        "format": "anabranch-proof",
        "version": 1,
        "variant": claim.variant,
        "chess960": claim.chess960,
        "fen": claim.fen,
        "moves": claim.moves,
        "result": claim.result,
        "plies": proof.plies(),
        "nodes": proof.nodes.len(),
    });
    let mut lines: Vec<String> = vec![String::new(); proof.nodes.len()];
    let mut waiting = vec![(0u32, game.clone())];
    while let Some((id, game)) = waiting.pop() {
        let node = &proof.nodes[id as usize];
        let mut line = json!({ "id": id, "plies": node.plies });
        match (node.is_attack, node.moves.as_slice()) {
            (_, []) => {}
            (true, moves) => {
                let (mv, next) = moves[0];
                line["move"] = game.move_text(mv).into();
                line["to"] = next.into();
            }
            (false, moves) => {
                let moves: Map<String, Value> =
                    moves.iter().map(|&(mv, next)| (game.move_text(mv), next.into())).collect();
                line["moves"] = moves.into();
            }
        }
        lines[id as usize] = line.to_string();
        for &(mv, next) in &node.moves {
            if lines[next as usize].is_empty() {
                let mut after = game.clone();
                after.play(mv);
                // Taken now, so that it is entered once; it is written when its turn comes.
                lines[next as usize].push(' ');
                waiting.push((next, after));
            }
        }
    }
    let mut text = String::new();
    for line in std::iter::once(header.to_string()).chain(lines) {
        let _ = writeln!(text, "{line}");
    }
    text
}
