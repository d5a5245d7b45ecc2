//! Every constant of the search, with its paper symbol, default, range and meaning, and the presets by name.
//!
//! The table made by [`table`] is the single source: the Python package, the command line and the docs read
//! it. How a setting is used is not defined here.

mod combinations;
mod presets;

pub use presets::PRESETS;
use thiserror::Error;

/// A value given for a setting, before it is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Integer(i128),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "{}", text.chars().take(60).collect::<String>()),
        }
    }
}

/// Why a setting was refused.
#[derive(Debug, Error, PartialEq)]
pub enum SettingError {
    /// No setting has this name.
    #[error("there is no setting '{name}'; 'anabranch settings' lists them{hint}")]
    Unknown {
        /// The name as given.
        name: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// The value lies outside the range, or is of the wrong kind.
    #[error("setting '{name}' takes {expected}, not {given}")]
    Refused {
        /// The setting.
        name: &'static str,
        /// What it takes.
        expected: String,
        /// What was given.
        given: String,
    },
    /// Two settings exclude each other.
    #[error("{0}")]
    Combination(String),
    /// No preset has this name.
    #[error("there is no preset '{name}'; the presets are {known}", known = PRESETS.join(", "))]
    UnknownPreset {
        /// The name as given.
        name: String,
    },
}

/// One row of the table of settings.
#[derive(Clone, Debug)]
pub struct SettingRow {
    /// Name in every interface.
    pub name: &'static str,
    /// Symbol in the paper, or nothing.
    pub symbol: &'static str,
    /// Default value.
    pub default: Value,
    /// What it takes, in words.
    pub range: String,
    /// Smallest number allowed, for numbers.
    pub minimum: Option<f64>,
    /// Largest number allowed, for numbers.
    pub maximum: Option<f64>,
    /// The words allowed, for choices.
    pub choices: &'static [&'static str],
    /// Meaning in a sentence.
    pub meaning: &'static str,
}

macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident {
        $( $(#[doc = $item_doc:literal])+ $item:ident = $text:literal ),+ $(,)?
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[doc = $item_doc])+ $item ),+ }

        impl $name {
            const WORDS: &'static [&'static str] = &[$($text),+];

            /// The word for it in every interface.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$item => $text),+ }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($text => Some($name::$item),)+ _ => None }
            }
        }
    };
}

choice! {
    /// How values travel up a trajectory.
    Backup {
        /// No merging: AlphaZero.
        Tree = "tree",
        /// No merging, evaluations shared by key.
        TreeCache = "tree+cache",
        /// Merged nodes without correction: the leaking control.
        Naive = "naive",
        /// Corrected and clipped: the paper.
        Paper = "paper",
        /// Corrected, the edge's whole change of mass goes up.
        Delta = "delta",
        /// Node values computed from their children.
        Recompute = "recompute",
        /// Merged nodes, every ancestor of the last node updated: update-all.
        All = "all",
    }
}

impl Backup {
    /// Whether nodes are merged by key.
    pub const fn merges(self) -> bool {
        !matches!(self, Backup::Tree | Backup::TreeCache)
    }

    /// Whether an edge into a transposition node gets a correction.
    pub const fn corrects(self) -> bool {
        matches!(self, Backup::Paper | Backup::Delta)
    }
}

choice! {
    /// When a trajectory stops at a transposition node.
    Stop {
        /// When edge and node differ by more than `q_epsilon`.
        Gap = "gap",
        /// While the edge has fewer visits than the node.
        Visits = "visits",
        /// Never.
        Never = "none",
    }
}

choice! {
    /// What makes two positions one node.
    Merge {
        /// Position and ply of the game (the paper).
        Ply = "ply",
        /// Position and reversible-move clock.
        Clock = "clock",
    }
}

choice! {
    /// The value of an unvisited move.
    Urgency {
        /// Always `q_init`.
        Fixed = "fixed",
        /// The node's value less a reduction that grows with the prior already visited.
        Reduction = "reduction",
    }
}

choice! {
    /// By what a trajectory chooses its moves.
    Selection {
        /// Values, priors and visits: AlphaZero and the paper.
        Puct = "puct",
        /// Values and visits, each move once before any twice: UCT and UCD.
        Ucb1 = "ucb1",
        /// The improved policy, deterministically: Gumbel AlphaZero.
        Improved = "improved",
    }
}

choice! {
    /// How proofs go up.
    SolverRule {
        /// To every parent, with draws, tablebases and lengths: Exact-win-MCTS 2.0, the paper.
        ExactWin2 = "exact-win-2",
        /// Up the trajectory, with draws: Exact-win-MCTS.
        ExactWin = "exact-win",
        /// Up the trajectory, wins and losses only: MCTS-Solver.
        MctsSolver = "mcts-solver",
    }
}

choice! {
    /// How a trajectory in flight is seen by the next.
    Virtual {
        /// As a visit with a loss.
        Loss = "loss",
        /// As a visit only.
        Visit = "visit",
    }
}

choice! {
    /// How the move is chosen in the end.
    Chooser {
        /// Most visits.
        Visits = "visits",
        /// Visits, the second best boosted by its value: Eq. (12) to (15).
        Q = "q",
        /// A linear mix of visits and values.
        Linear = "linear",
        /// The lower confidence bound of the value.
        Bound = "lcb",
        /// The secure child: the value less a term that shrinks with visits.
        Secure = "secure",
    }
}

choice! {
    /// An evaluator inside the core.
    BuiltIn {
        /// Value 0, equal priors.
        Uniform = "uniform",
        /// Material, captures and checks first.
        Material = "material",
        /// Pseudo-random, fixed by the position.
        Hash = "hash",
        /// The mean of random playouts.
        Rollout = "rollout",
        /// A network that is given with its file.
        Network = "network",
    }
}

macro_rules! kind {
    (type float $a:tt) => {
        f64
    };
    (type integer $a:tt) => {
        u64
    };
    (type flag $a:tt) => {
        bool
    };
    (type choice ($t:ty)) => {
        $t
    };

    (value float $a:tt $v:expr) => {
        Value::Float($v)
    };
    (value integer $a:tt $v:expr) => {
        Value::Integer($v as i128)
    };
    (value flag $a:tt $v:expr) => {
        Value::Flag($v)
    };
    (value choice ($t:ty) $v:expr) => {
        Value::Text($v.as_str().to_owned())
    };

    (range float ($low:expr, $high:expr)) => {
        format!("a number from {} to {}", $low, $high)
    };
    (range integer ($low:expr, $high:expr)) => {
        format!("a whole number from {} to {}", $low as u64, $high as u64)
    };
    (range flag $a:tt) => {
        "true or false".to_owned()
    };
    (range choice ($t:ty)) => {
        format!("one of {}", <$t>::WORDS.join(", "))
    };

    (bounds float ($low:expr, $high:expr)) => {
        (Some($low as f64), Some($high as f64))
    };
    (bounds integer ($low:expr, $high:expr)) => {
        (Some($low as f64), Some($high as f64))
    };
    (bounds $other:ident $a:tt) => {
        (None, None)
    };

    (words choice ($t:ty)) => {
        <$t>::WORDS
    };
    (words $other:ident $a:tt) => {
        &[]
    };

    (read float ($low:expr, $high:expr) $value:expr) => {
        match $value {
            Value::Float(number) if ($low..=$high).contains(number) => Some(*number),
            Value::Integer(number) if ($low..=$high).contains(&(*number as f64)) => Some(*number as f64),
            Value::Text(text) => {
                text.trim().parse::<f64>().ok().filter(|number| ($low..=$high).contains(number))
            }
            _ => None,
        }
    };
    (read integer ($low:expr, $high:expr) $value:expr) => {
        match $value {
            Value::Integer(number) => Some(*number),
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i128),
            Value::Text(text) => text.trim().replace('_', "").parse::<i128>().ok(),
            _ => None,
        }
        .filter(|number| ($low as i128..=$high as i128).contains(number))
        .map(|number| number as u64)
    };
    (read flag $a:tt $value:expr) => {
        match $value {
            Value::Flag(flag) => Some(*flag),
            Value::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Some(true),
                "false" | "off" | "no" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    };
    (read choice ($t:ty) $value:expr) => {
        match $value {
            Value::Text(text) => <$t>::from_word(text.trim()),
            _ => None,
        }
    };
}

macro_rules! settings {
    ($( $name:ident : $kind:ident $args:tt = $default:expr, $symbol:literal, $meaning:literal; )+) => {
        /// The settings of a search; each field is documented by its row in [`table`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings { $( #[doc = $meaning] pub $name: kind!(type $kind $args), )+ }

        impl Default for Settings {
            fn default() -> Self { Settings { $( $name: $default, )+ } }
        }

        /// The table of all settings, in the order in which people should read them.
        pub fn table() -> Vec<SettingRow> {
            vec![$( {
                let (minimum, maximum) = kind!(bounds $kind $args);
                SettingRow {
                    name: stringify!($name),
                    symbol: $symbol,
                    default: kind!(value $kind $args $default),
                    range: kind!(range $kind $args),
                    minimum,
                    maximum,
                    choices: kind!(words $kind $args),
                    meaning: $meaning,
                }
            } ),+]
        }

        impl Settings {
            /// Sets one setting by name; refuses unknown names and values outside the range, and changes
            /// nothing then.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
                match name {
                    $( stringify!($name) => {
                        self.$name = (kind!(read $kind $args value)).ok_or_else(|| SettingError::Refused {
                            name: stringify!($name),
                            expected: kind!(range $kind $args),
                            given: value.to_string(),
                        })?;
                        Ok(())
                    } )+
                    _ => {
                        let hint = hint(name);
                        Err(SettingError::Unknown { name: name.chars().take(60).collect(), hint })
                    }
                }
            }

            /// One setting by name.
            pub fn get(&self, name: &str) -> Option<Value> {
                match name {
                    $( stringify!($name) => Some(kind!(value $kind $args self.$name)), )+
                    _ => None,
                }
            }
        }
    };
}

settings! {
    selection: choice(Selection) = Selection::Puct, "",
        "By what moves are chosen inside the search: PUCT, UCB1 without priors, or the improved policy.";
    c_init: float(0.0, 100.0) = 2.5, "c_puct-init", "Weight of exploration in PUCT, Eq. (6).";
    c_base: float(1.0, 1e12) = 19652.0, "c_puct-base",
        "Visits after which the weight of exploration begins to grow, Eq. (6).";
    c_ucb: float(0.0, 100.0) = 1.4, "c", "Weight of exploration with selection = ucb1, Eq. (2).";
    ucd_value: integer(0, 255) = 0, "d_1",
        "Depth below an edge from which UCD takes its mean, with selection = ucb1; 255: infinite.";
    ucd_parent: integer(0, 255) = 0, "d_2",
        "Depth below its edges from which UCD takes the visits of a node; 255: infinite.";
    ucd_visits: integer(0, 255) = 0, "d_3",
        "Depth below an edge from which UCD takes its visits; 255: infinite.";
    q_init: float(-1.0, 1.0) = -1.0, "Q-Value initialization",
        "Value of an unvisited move when urgency is fixed.";
    urgency: choice(Urgency) = Urgency::Reduction, "",
        "Value of unvisited moves: fixed at q_init, or the node's value less a reduction.";
    urgency_reduction: float(0.0, 2.0) = 0.3, "",
        "Reduction per square root of visited prior, with urgency = reduction.";
    table_values: flag() = false, "",
        "Unvisited moves whose child is in the graph take its value; slow: it computes every child's key.";
    node_temperature: float(0.05, 20.0) = 1.0, "Node_tau",
        "Flattens (above 1) or sharpens the priors of every node.";
    value_min: float(-1.0, 0.0) = -1.0, "V_min", "Lower end of the value range, Eq. (10).";
    value_max: float(0.0, 1.0) = 1.0, "V_max", "Upper end of the value range, Eq. (10).";
    backup: choice(Backup) = Backup::Paper, "",
        "How values travel up: trees, merged without correction, the paper's correction, or three more.";
    stop: choice(Stop) = Stop::Gap, "",
        "When a trajectory ends at a transposition node without an evaluation.";
    q_epsilon: float(0.0, 2.0) = 0.01, "Q_epsilon",
        "Gap between edge and node above which a trajectory stops, Eq. (8).";
    merge: choice(Merge) = Merge::Ply, "",
        "Positions are one node at equal ply (the paper), or at equal reversible-move clock.";
    contempt: float(-1.0, 1.0) = 0.0, "",
        "What a draw costs the side to move at the root, and gives the other side.";
    solver: flag() = true, "", "The exact terminal solver, Algorithm 3.";
    solver_rule: choice(SolverRule) = SolverRule::ExactWin2, "",
        "How proofs go up: to all parents (the paper), or up the trajectory, with draws or without.";
    skip_draws: flag() = false, "",
        "Selection leaves out moves that are proven draws while there is another: proofs come sooner.";
    improve: flag() = false, "",
        "After the root is solved, look for the shortest proof; then the length is the true distance.";
    mate_leaf: integer(0, 1u64 << 20) = 0, "",
        "Positions of the search for a mate at a new leaf; 0 leaves it out.";
    mate_leaf_value: float(-1.0, 1.0) = 0.0, "",
        "Evaluation for the side to move from which on a leaf is searched for a mate.";
    mate_growth: float(0.0, 1000.0) = 0.0, "",
        "Positions per visit and squared score of the search for a mate, each time a node's visits double.";
    mate_start: integer(1, 1u64 << 32) = 32, "", "Visits of a node at its first search for a mate.";
    mate_root: float(0.0, 1000.0) = 0.3, "",
        "Positions per visit of the search for a mate at the root, and after the move to play.";
    pn_weight: float(0.0, 100.0) = 0.0, "",
        "Weight of the proof numbers in selection; 0 leaves them out.";
    epsilon_greedy: float(0.0, 1.0) = 0.01, "epsilon_greedy",
        "Share of simulations that explore the next unvisited move on a disconnected trajectory.";
    epsilon_checks: float(0.0, 1.0) = 0.01, "epsilon_checks",
        "Share of simulations that explore unvisited checks first.";
    epsilon_captures: float(0.0, 1.0) = 0.0, "",
        "Share of simulations that explore unvisited captures first.";
    epsilon_threats: float(0.0, 1.0) = 0.0, "", "Share of simulations that explore unvisited threats first.";
    dirichlet_epsilon: float(0.0, 1.0) = 0.0, "epsilon_Dir",
        "Weight of Dirichlet noise in the root's priors.";
    dirichlet_alpha: float(0.001, 100.0) = 0.3, "alpha", "Shape of the Dirichlet noise.";
    gumbel: flag() = false, "",
        "The root by sequential halving over moves drawn with Gumbel noise, which also choose the move.";
    gumbel_considered: integer(1, 1024) = 16, "m", "Moves of the root that the first halving considers.";
    gumbel_scale: float(0.0, 100.0) = 1.0, "", "Weight of the Gumbel noise; 0 makes the root deterministic.";
    c_visit: float(0.0, 1e6) = 50.0, "c_visit",
        "Visits added to the weight of values in the improved policy.";
    c_scale: float(0.0, 1000.0) = 1.0, "c_scale", "Weight of values in the improved policy.";
    chooser: choice(Chooser) = Chooser::Q, "",
        "How the move is chosen: visits, Q-value correction, linear mix, lower bounds of two kinds.";
    q_weight: float(0.0, 100.0) = 2.0, "Q_weight",
        "Weight of the Q-value correction in move choice, Eq. (15).";
    linear_weight: float(0.0, 1.0) = 0.7, "", "Share of the values in the linear mix of move choice.";
    bound_width: float(0.0, 10.0) = 1.96, "", "Standard errors below the mean in the lower confidence bound.";
    secure_weight: float(0.0, 100.0) = 1.0, "A",
        "What a single visit costs in the choice of the secure child.";
    temperature: float(0.0, 100.0) = 0.0, "tau", "Temperature of move choice; 0 takes the best.";
    virtual_mode: choice(Virtual) = Virtual::Visit, "",
        "How trajectories in flight look to the next one: as losses or as visits only.";
    virtual_loss: float(0.0, 10.0) = 1.0, "Virtual Loss", "Size of a virtual loss.";
    batch_size: integer(1, 4096) = 512, "Mini-Batch-Size", "Evaluations in a mini-batch.";
    batches_in_flight: integer(1, 2) = 2, "Threads",
        "Mini-batches under way at once: one is collected while the other is evaluated.";
    width_visits: integer(0, 1u64 << 32) = 1024, "",
        "Visits of the root for each leaf in flight beyond the first; 0 means no bound.";
    width_linear: integer(0, 4096) = 16, "",
        "Leaves in flight beyond the first from which on they grow as the square root of visits; 0: never.";
    wave_least: integer(0, 4096) = 4, "",
        "Fewest visits that go down the graph together, as a wave; fewer go one by one. 0: never together.";
    batch_collisions: integer(1, 4096) = 16, "", "Collisions after which a mini-batch is closed.";
    batch_stops: integer(1, 1048576) = 256, "", "Stops at transpositions after which a mini-batch is closed.";
    batch_terminals: integer(1, 1048576) = 32, "", "Exact ends after which a mini-batch is closed.";
    idle_collections: integer(1, 1048576) = 128, "",
        "Collections in a row without an evaluation after which the search ends.";
    threads: integer(1, 256) = 1, "", "Threads that search and evaluate; the graph does not depend on it.";
    seed: integer(0, u64::MAX) = 0, "", "Seed of the random source.";
    memory: integer(1u64 << 20, 1u64 << 44) = 2u64 << 30, "", "Hard cap of the graph in bytes.";
    reuse: flag() = true, "", "Keep the part of the graph below a move that was played.";
    tablebase_men: integer(0, 7) = 7, "",
        "Most men of a position that is looked up in the tablebases; 0 leaves them aside.";
    tablebase_fifty: flag() = true, "",
        "Tablebase wins that the 50-move rule spoils are draws; without it they are wins.";
    evaluator: choice(BuiltIn) = BuiltIn::Material, "",
        "The evaluator in the core; network where a file was given.";
    hash_cost_us: integer(0, 10_000_000) = 0, "", "Artificial cost of the hash evaluator in microseconds.";
    rollouts: integer(1, 1_000_000) = 1, "", "Random playouts of an evaluation by the evaluator rollout.";
}

fn hint(name: &str) -> String {
    let distance = |candidate: &str| -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (name.chars().take(60).collect(), candidate.chars().collect());
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, letter) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i + 1;
            for j in 0..b.len() {
                let cost = corner + usize::from(*letter != b[j]);
                corner = row[j + 1];
                row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
            }
        }
        row[b.len()]
    };
    table()
        .iter()
        .map(|row| (distance(row.name), row.name))
        .min()
        .filter(|(steps, _)| *steps <= 3)
        .map_or_else(String::new, |(_, near)| format!(" (did you mean '{near}'?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_takes_its_own_default_and_names_are_unique() {
        let mut settings = Settings::default();
        let rows = table();
        for row in &rows {
            settings.set(row.name, &row.default).unwrap();
            assert_eq!(settings.get(row.name), Some(row.default.clone()));
            assert!(row.meaning.ends_with('.'));
        }
        assert_eq!(settings, Settings::default());
        let names: std::collections::HashSet<_> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
    }

    #[test]
    fn refusals_are_sentences_and_change_nothing() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("c_init", Value::Float(f64::NAN)),
            ("c_init", Value::Float(-1.0)),
            ("batch_size", Value::Integer(0)),
            ("batch_size", Value::Float(1.5)),
            ("backup", Value::Text("graph".into())),
            ("solver", Value::Integer(3)),
        ] {
            let error = settings.set(name, &value).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("takes"), "{error}");
        }
        assert!(settings.set("c_inti", &Value::Float(1.0)).unwrap_err().to_string().contains("'c_init'"));
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn presets_differ_by_what_they_name() {
        let all: Vec<Settings> = PRESETS.iter().map(|name| Settings::preset(name).unwrap()).collect();
        for (i, one) in all.iter().enumerate() {
            for other in &all[..i] {
                assert_ne!(one, other);
            }
        }
        assert!(Settings::preset("nothing").is_err());
    }
}
