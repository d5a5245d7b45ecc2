//! The games on a grid as a kind of game.

use std::sync::Arc;

use super::Kind;
use crate::evaluators::{self, Evaluator, Leaf};
use crate::game::{Game, MoveCode, Trail};
use crate::games::chess::Tablebases;
use crate::games::grid::catalogue::Named;
use crate::games::grid::{GridError, GridGame, RowGame, rows_among};
use crate::network::Network;
use crate::oracle::Oracle;
use crate::run::errors::SessionError;
use crate::settings::Settings;

/// The planes of a game on a grid: there is one layout.
#[derive(Clone, Copy, Debug)]
pub struct OneLayout;

impl Kind for GridGame {
    type Which = Named;
    type Planes = OneLayout;

    fn name(which: &Named) -> &str {
        &which.name
    }

    fn apart(which: &Named) -> Named {
        which.apart()
    }

    fn start(which: &Named) -> Result<Self, SessionError> {
        Ok(which.start())
    }

    fn read(which: &Named, text: &str) -> Result<Self, SessionError> {
        Ok(which.start().read(text)?)
    }

    fn parse_move(&self, which: &Named, text: &str) -> Result<MoveCode, SessionError> {
        Ok(GridGame::parse_move(self, text, which.moves())?)
    }

    fn list_moves(&self, moves: &mut Vec<MoveCode>) {
        self.legal_moves(moves);
        if self.ending(moves).is_some() {
            moves.clear();
        }
    }

    fn picture(&self) -> String {
        GridGame::picture(self)
    }

    fn built_in(settings: &Settings) -> Result<Arc<dyn Evaluator<Self>>, SessionError> {
        evaluators::of_any_game(settings)
            .ok_or_else(|| SessionError::NoSuchEvaluator(settings.evaluator.as_str()))
    }

    fn network(which: &Named, network: &Arc<Network>) -> Result<Arc<dyn Evaluator<Self>>, SessionError> {
        if network.plays() != which.name {
            return Err(SessionError::WrongNetwork {
                network: network.path().display().to_string(),
                plays: network.plays().to_owned(),
                game: which.name.clone(),
            });
        }
        Ok(Arc::clone(network) as Arc<dyn Evaluator<Self>>)
    }

    fn oracle(_which: &Named, _tables: Arc<Tablebases>) -> Option<Arc<dyn Oracle<Self>>> {
        None
    }

    fn planes(which: &Named, name: Option<&str>) -> Result<OneLayout, SessionError> {
        match name {
            None => Ok(OneLayout),
            Some(name) => {
                let text = format!("{} has planes of one version only, so none named {name:?}", which.name);
                Err(SessionError::Planes(text))
            }
        }
    }

    fn shape(&self, _: OneLayout) -> [usize; 3] {
        self.plane_shape()
    }

    fn fill(&self, _: OneLayout, trail: &Trail<'_, Self>, out: &mut [f32]) {
        self.fill_planes(trail.recent, trail.repetitions, out);
    }

    fn fill_all(leaves: &[&Leaf<Self>], _: OneLayout, out: &mut [f32]) -> bool {
        let games: Vec<&GridGame> = leaves.iter().map(|leaf| &leaf.game).collect();
        let Some(rows) = rows_among(&games) else { return false };
        RowGame::fill_features(&rows, out);
        true
    }
}

impl From<GridError> for SessionError {
    fn from(error: GridError) -> SessionError {
        SessionError::Grid(error)
    }
}
