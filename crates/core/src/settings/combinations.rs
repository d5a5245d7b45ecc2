//! Settings that exclude each other. Ranges of single settings are in the table.

use super::{Backup, Merge, Selection, SettingError, Settings, SolverRule, Stop};

impl Settings {
    /// Refuses combinations that make no sense, with a sentence.
    pub fn check(&self) -> Result<(), SettingError> {
        let rules = [
            (
                self.gumbel && self.dirichlet_epsilon > 0.0,
                "gumbel brings its own noise to the root: dirichlet_epsilon must be 0".to_owned(),
            ),
            (
                self.gumbel && self.temperature > 0.0,
                "gumbel chooses the move by its own noise: temperature must be 0".to_owned(),
            ),
            (
                self.selection != Selection::Puct
                    && (self.table_values || self.skip_draws || self.pn_weight > 0.0),
                format!(
                    "selection = {} has no place for table_values, skip_draws and pn_weight: they need puct",
                    self.selection.as_str()
                ),
            ),
            (
                self.uses_ucd() && self.selection != Selection::Ucb1,
                "ucd_value, ucd_parent and ucd_visits need selection = ucb1".to_owned(),
            ),
            (
                self.uses_ucd()
                    && !(self.backup.merges()
                        && self.backup != Backup::All
                        && self.stop == Stop::Never
                        && self.merge == Merge::Ply),
                "ucd_value, ucd_parent and ucd_visits need a graph (backup = naive, paper, delta or \
                 recompute), stop = none and merge = ply"
                    .to_owned(),
            ),
            (
                self.backup == Backup::All && (self.stop != Stop::Never || self.explores()),
                "backup = all updates every ancestor of a leaf: it needs stop = none, and epsilon_greedy, \
                 epsilon_checks, epsilon_captures and epsilon_threats must be 0"
                    .to_owned(),
            ),
            (
                self.solver_rule != SolverRule::ExactWin2
                    && (self.mate_leaf > 0 || self.mate_growth > 0.0 || self.mate_root > 0.0),
                format!(
                    "solver_rule = {} takes no proofs of the search for mates: mate_leaf, mate_growth and \
                     mate_root must be 0",
                    self.solver_rule.as_str()
                ),
            ),
        ];
        match rules.into_iter().find(|(is_broken, _)| *is_broken) {
            Some((_, sentence)) => Err(SettingError::Combination(sentence)),
            None => Ok(()),
        }
    }

    /// Whether selection reads numbers from below an edge.
    pub const fn uses_ucd(&self) -> bool {
        self.ucd_value > 0 || self.ucd_parent > 0 || self.ucd_visits > 0
    }

    /// Whether some simulations explore.
    pub fn explores(&self) -> bool {
        [self.epsilon_greedy, self.epsilon_checks, self.epsilon_captures, self.epsilon_threats]
            .iter()
            .any(|&epsilon| epsilon > 0.0)
    }

    /// Whether visits may go down together, as a wave: the rules of selection, backup and proofs are those
    /// that a wave knows.
    pub fn allows_waves(&self) -> bool {
        self.selection == Selection::Puct
            && !self.gumbel
            && self.backup != Backup::All
            && self.solver_rule == SolverRule::ExactWin2
            && !(self.table_values && self.backup.merges())
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::{PRESETS, Settings, Value};

    #[test]
    fn presets_make_sense_and_some_combinations_do_not() {
        for name in PRESETS {
            Settings::preset(name).unwrap().check().unwrap();
        }
        for (preset, name, value) in [
            ("gumbel", "dirichlet_epsilon", Value::Float(0.25)),
            ("gumbel", "temperature", Value::Float(1.0)),
            ("gumbel", "pn_weight", Value::Float(1.0)),
            ("uct", "table_values", Value::Flag(true)),
            ("uct", "skip_draws", Value::Flag(true)),
            ("uct", "ucd_value", Value::Integer(1)),
            ("mcgs", "ucd_visits", Value::Integer(1)),
            ("ucd", "stop", Value::Text("gap".into())),
            ("ucd", "merge", Value::Text("clock".into())),
            ("ucd", "backup", Value::Text("tree".into())),
            ("update-all", "stop", Value::Text("visits".into())),
            ("update-all", "epsilon_checks", Value::Float(0.1)),
            ("default", "solver_rule", Value::Text("exact-win".into())),
            ("uct+solver", "mate_leaf", Value::Integer(5)),
        ] {
            let mut settings = Settings::preset(preset).unwrap();
            settings.set(name, &value).unwrap();
            let sentence = settings.check().unwrap_err().to_string();
            assert!(sentence.contains(name) || name == "backup", "{sentence}");
            assert!(!sentence.contains('.') && !sentence.contains("  "), "{sentence}");
        }
    }
}
