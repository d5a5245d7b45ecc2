//! Chess and its variants as a kind of game.

use std::sync::Arc;

use super::Kind;
use crate::evaluators::{self, Evaluator, Material};
use crate::game::{Game, MoveCode, Trail};
use crate::games::chess::planes::Version;
use crate::games::chess::{Board, Rules, Tablebases, Variant};
use crate::network::Network;
use crate::oracle::Oracle;
use crate::run::errors::SessionError;
use crate::settings::{BuiltIn, Settings};

/// A variant, and whether castling is written as the king takes the rook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// The variant.
    pub variant: Variant,
    /// The notation of Chess960.
    pub chess960: bool,
}

impl<P: Rules> Kind for Board<P> {
    type Which = Which;
    type Planes = Version;

    fn name(which: &Which) -> &str {
        which.variant.name()
    }

    fn is_chess960(which: &Which) -> bool {
        which.chess960
    }

    fn start(which: &Which) -> Result<Self, SessionError> {
        let board = Board::<P>::start(which.variant)
            .ok_or(SessionError::State("this session does not play that variant"))?;
        if which.chess960 { Ok(Board::from_fen(which.variant, &board.fen(), true)?) } else { Ok(board) }
    }

    fn read(which: &Which, text: &str) -> Result<Self, SessionError> {
        Ok(Board::from_fen(which.variant, text, which.chess960)?)
    }

    fn parse_move(&self, _which: &Which, text: &str) -> Result<MoveCode, SessionError> {
        Ok(Board::parse_move(self, text)?)
    }

    fn list_moves(&self, moves: &mut Vec<MoveCode>) {
        self.legal_moves(moves);
    }

    fn picture(&self) -> String {
        let placement = self.fen();
        let rows = placement.split(['[', ' ']).next().unwrap_or("").split('/');
        let spread = |row: &str| {
            let cell = |letter: char| match letter.to_digit(10) {
                Some(empty) => ".".repeat(empty as usize),
                None => letter.to_string(),
            };
            let cells: String = row.chars().filter(|letter| *letter != '~').map(cell).collect();
            cells.chars().map(String::from).collect::<Vec<_>>().join(" ")
        };
        rows.map(spread).collect::<Vec<_>>().join("\n")
    }

    fn built_in(settings: &Settings) -> Result<Arc<dyn Evaluator<Self>>, SessionError> {
        match settings.evaluator {
            BuiltIn::Material => Ok(Arc::new(Material)),
            _ => evaluators::of_any_game(settings).ok_or(SessionError::NoNetwork),
        }
    }

    fn network(which: &Which, network: &Arc<Network>) -> Result<Arc<dyn Evaluator<Self>>, SessionError> {
        if network.plays() != which.variant.name() {
            return Err(SessionError::WrongNetwork {
                network: network.path().display().to_string(),
                plays: network.plays().to_owned(),
                game: which.variant.to_string(),
            });
        }
        Ok(Arc::clone(network) as Arc<dyn Evaluator<Self>>)
    }

    fn oracle(which: &Which, tables: Arc<Tablebases>) -> Option<Arc<dyn Oracle<Self>>> {
        if tables.men(which.variant) > 0 { Some(tables) } else { None }
    }

    fn planes(which: &Which, name: Option<&str>) -> Result<Version, SessionError> {
        Ok(Version::parse(name.unwrap_or("v3"), which.variant)?)
    }

    fn shape(&self, planes: Version) -> [usize; 3] {
        [planes.count(self.variant()), 8, 8]
    }

    fn uses_past(planes: Version) -> bool {
        planes.uses_past()
    }

    fn fill(&self, planes: Version, trail: &Trail<'_, Self>, out: &mut [f32]) {
        planes.fill(self, trail, out);
    }

    fn policy_size_of(&self, planes: Version) -> usize {
        planes.policy_size(self.variant())
    }

    fn policy_index_of(&self, planes: Version, mv: MoveCode) -> usize {
        planes.policy_index(self, mv)
    }
}
