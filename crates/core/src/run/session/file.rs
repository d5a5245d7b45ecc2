//! A session in a file: position, settings and evaluator in the header of the saved graph.
//!
//! A file of an older version has fewer lines in its header; what is missing gets the value it had then.

use std::path::Path as FilePath;
use std::sync::Arc;

use super::{Session, Source};
use crate::game::{Ending, Game};
use crate::games::chess::Variant;
use crate::games::grid::catalogue::{Named, OBJECT, ROWS};
use crate::network::Network;
use crate::random::{Random, mix};
use crate::run::drive::Limits;
use crate::run::errors::SessionError;
use crate::run::external::External;
use crate::run::kind::Kind;
use crate::run::save::{self, SaveError};
use crate::search::Search;
use crate::settings::{Settings, Value, table};

/// Random games of a fingerprint, and the plies of the longest.
const GAMES: usize = 2;
const MOST_PLIES: usize = 200;

/// Whether the rules of a game are written elsewhere: its name does not tell its size.
fn is_elsewhere(name: &str) -> bool {
    name.starts_with(OBJECT) || name.starts_with(ROWS)
}

/// Some random games from a position as one number, which rules that differ there are unlikely to share.
fn fingerprint<G: Game>(game: &G) -> u64 {
    let (mut random, mut moves, mut sum) = (Random::new(0), Vec::new(), 0);
    for _ in 0..GAMES {
        let mut game = game.clone();
        for _ in 0..MOST_PLIES {
            game.legal_moves(&mut moves);
            let value = game.ending(&moves).map_or(2.0, Ending::value);
            sum = mix(sum ^ game.key() ^ mix(moves.len() as u64) ^ value.to_bits());
            if value <= 1.0 || moves.is_empty() {
                break;
            }
            game.play(moves[random.index(moves.len())]);
        }
    }
    sum
}

/// The header of a saved graph: which session can load it.
pub fn saved_variant(file: &FilePath) -> Result<(String, bool), SessionError> {
    let (header, _) = save::open(file)?;
    let get = |name: &str| header.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let is_known =
        |name: &&str| is_elsewhere(name) || Variant::parse(name).is_ok() || Named::parse(name).is_ok();
    let variant = get("variant").filter(is_known).ok_or(SaveError::Damaged("it names no known variant"))?;
    Ok((variant.to_owned(), get("chess960") == Some("true")))
}

impl<G: Kind> Session<G> {
    /// Writes the graph to a file.
    pub fn save(&self, file: &FilePath) -> Result<(), SessionError> {
        let (origin, moves) = self.game();
        let mut header = vec![
            ("variant".to_owned(), self.name().to_owned()),
            ("chess960".to_owned(), self.is_chess960().to_string()),
            ("origin".to_owned(), origin),
            ("moves".to_owned(), moves.join(" ")),
            ("external".to_owned(), self.search.evaluator.is_none().to_string()),
            ("side".to_owned(), self.search.side.to_string()),
        ];
        if is_elsewhere(self.name()) {
            header.push(("rules".to_owned(), fingerprint(self.search.path.root()).to_string()));
        }
        if let Some(hash) = self.network_hash() {
            header.push(("network".to_owned(), hash.to_owned()));
        }
        for row in table() {
            if let Some(value) = self.settings().get(row.name) {
                header.push((format!("setting.{}", row.name), value.to_string()));
            }
        }
        Ok(save::save(&self.search, &header, file)?)
    }

    /// Replaces position and graph by those of a file of the same variant, with its settings. A graph that a
    /// network made can always be read, but searched on only with that network. Returns the hash of the
    /// network that is missing, if it is not the one given.
    pub fn load(
        &mut self,
        file: &FilePath,
        network: Option<Arc<Network>>,
    ) -> Result<Option<String>, SessionError> {
        let (header, body) = save::open(file)?;
        let get = |name: &str| header.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        if get("variant") != Some(self.name())
            || get("chess960") != Some(if self.is_chess960() { "true" } else { "false" })
        {
            return Err(SaveError::Damaged("it belongs to another variant").into());
        }
        // Files of versions without a width, waves or mates: those had none.
        let mut settings = Settings {
            width_visits: 0,
            width_linear: 0,
            wave_least: 0,
            mate_root: 0.0,
            ..Settings::default()
        };
        for (name, value) in &header {
            if let Some(name) = name.strip_prefix("setting.") {
                settings
                    .set(name, &Value::Text(value.clone()))
                    .map_err(|_| SaveError::Damaged("a setting is out of range"))?;
            }
        }
        settings.check().map_err(|_| SaveError::Damaged("its settings exclude each other"))?;
        let moves: Vec<String> = get("moves").unwrap_or("").split_whitespace().map(str::to_owned).collect();
        // A game that is written elsewhere cannot read its own text.
        let first = G::start(&self.which)?.text();
        let (origin, played) = self.read_position(get("origin").filter(|text| *text != first), &moves)?;
        let made_by = get("network").map(str::to_owned);
        let network = network.filter(|network| made_by.as_deref() == Some(network.sha256()));
        let is_apart = made_by.is_some() || get("external") == Some("true");
        let source = Source::new(is_apart && network.is_none(), network);
        let (evaluator, network) = Self::evaluator(&self.which, &mut settings, source)?;
        let mut search = Search::new(settings, evaluator, origin, &played);
        search.set_oracle(self.oracle());
        if is_elsewhere(self.name())
            && get("rules").is_some_and(|rules| rules != fingerprint(search.path.root()).to_string())
        {
            return Err(SaveError::OtherRules.into());
        }
        if let Some(side) = get("side").and_then(|side| side.parse().ok()).filter(|side| *side < 2) {
            search.take_side(side);
        }
        save::restore(&mut search, &body)?;
        self.external = External::new(Limits::default());
        self.search = search;
        self.missing_network = made_by.filter(|_| network.is_none());
        self.network = network;
        Ok(self.missing_network.clone())
    }
}
