//! The presets: settings under a name.

use super::{
    Backup, BuiltIn, Chooser, Selection, SettingError, Settings, SolverRule, Stop, Urgency, Virtual,
};

/// The presets by name: the bars of the paper's ablation, other searches of the literature, and `default`.
pub const PRESETS: &[&str] = &[
    "alphazero",
    "alphazero+cache",
    "alphazero+solver",
    "alphazero+epsilon",
    "alphazero+qmove",
    "alphazero+checks",
    "mcgs",
    "mcgs-combined",
    "gumbel",
    "uct",
    "uct+solver",
    "ucd",
    "update-all",
    "default",
];

impl Settings {
    /// The settings of a preset.
    pub fn preset(name: &str) -> Result<Settings, SettingError> {
        // The paper's table; the defaults come from our own measurements.
        let combined = Settings {
            urgency: Urgency::Fixed,
            node_temperature: 1.7,
            virtual_mode: Virtual::Loss,
            batch_size: 16,
            width_visits: 0,
            width_linear: 0,
            wave_least: 0,
            mate_root: 0.0,
            ..Settings::default()
        };
        let alphazero = Settings {
            backup: Backup::Tree,
            solver: false,
            epsilon_greedy: 0.0,
            epsilon_checks: 0.0,
            chooser: Chooser::Visits,
            ..combined.clone()
        };
        // One leaf at a time, and no priors: as the literature describes it.
        let uct = Settings {
            selection: Selection::Ucb1,
            node_temperature: 1.0,
            virtual_mode: Virtual::Visit,
            batch_size: 1,
            batches_in_flight: 1,
            evaluator: BuiltIn::Rollout,
            ..alphazero.clone()
        };
        Ok(match name {
            "alphazero" => alphazero,
            "alphazero+cache" => Settings { backup: Backup::TreeCache, ..alphazero },
            "alphazero+solver" => Settings { solver: true, ..alphazero },
            "alphazero+epsilon" => Settings { epsilon_greedy: 0.01, ..alphazero },
            "alphazero+qmove" => Settings { chooser: Chooser::Q, ..alphazero },
            "alphazero+checks" => Settings { epsilon_checks: 0.01, ..alphazero },
            "mcgs" => Settings { backup: Backup::Paper, ..alphazero },
            "mcgs-combined" => combined,
            "gumbel" => Settings {
                selection: Selection::Improved,
                gumbel: true,
                node_temperature: 1.0,
                virtual_mode: Virtual::Visit,
                batches_in_flight: 1,
                ..alphazero
            },
            "uct" => uct,
            "uct+solver" => Settings {
                solver: true,
                solver_rule: SolverRule::MctsSolver,
                chooser: Chooser::Secure,
                ..uct
            },
            "ucd" => Settings {
                backup: Backup::Naive,
                stop: Stop::Never,
                ucd_value: 1,
                ucd_parent: 1,
                ucd_visits: 1,
                ..uct
            },
            "update-all" => Settings { backup: Backup::All, stop: Stop::Never, ..uct },
            "default" => Settings::default(),
            _ => return Err(SettingError::UnknownPreset { name: name.chars().take(60).collect() }),
        })
    }
}
