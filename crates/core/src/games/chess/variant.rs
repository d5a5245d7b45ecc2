//! The variants of chess and their names.
//!
//! Names are read with the usual spellings; one spelling is written. Chess960 is chess with another castling
//! notation.

use std::fmt;

/// The variants, each once: what it is, its name here and in shakmaty, and the name that UCI uses.
macro_rules! variants {
    ($($(#[$meaning:meta])* $variant:ident = $name:literal,)+) => {
        /// A variant of chess. Chess960 is [`Variant::Chess`] with another notation of castling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Variant {
            $($(#[$meaning])* $variant,)+
        }

        impl Variant {
            /// All variants.
            pub const ALL: [Variant; [$($name),+].len()] = [$(Variant::$variant),+];

            /// The name that UCI uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Variant::$variant => $name,)+
                }
            }

            pub(super) const fn to_shakmaty(self) -> shakmaty::variant::Variant {
                match self {
                    $(Variant::$variant => shakmaty::variant::Variant::$variant,)+
                }
            }

            pub(super) const fn from_shakmaty(variant: shakmaty::variant::Variant) -> Variant {
                match variant {
                    $(shakmaty::variant::Variant::$variant => Variant::$variant,)+
                }
            }
        }
    };
}

variants! {
    /// Chess, and Chess960.
    Chess = "chess",
    /// Captured pieces change sides and are dropped on the board.
    Crazyhouse = "crazyhouse",
    /// Captures explode.
    Atomic = "atomic",
    /// Who has no move wins; captures are compulsory.
    Antichess = "antichess",
    /// A king in the centre wins.
    KingOfTheHill = "kingofthehill",
    /// The third check wins.
    ThreeCheck = "3check",
    /// The first king on the eighth rank wins.
    RacingKings = "racingkings",
    /// A horde of pawns against an army.
    Horde = "horde",
}

/// The name is not that of a variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "There is no variant named {name:?}; the variants are chess, chess960, crazyhouse, atomic, antichess, \
     kingofthehill, 3check, racingkings and horde."
)]
pub struct UnknownVariant {
    /// The refused name, clipped.
    pub name: String,
}

impl Variant {
    /// Reads a name; returns also whether it is that of Chess960.
    pub fn parse(name: &str) -> Result<(Variant, bool), UnknownVariant> {
        let plain: String = name
            .chars()
            .take(40)
            .filter(|letter| !matches!(letter, ' ' | '-' | '_'))
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        let variant = match plain.as_str() {
            "standard" | "normal" => Variant::Chess,
            "chess960" | "fischerandom" => return Ok((Variant::Chess, true)),
            "giveaway" => Variant::Antichess,
            "koth" => Variant::KingOfTheHill,
            "threecheck" => Variant::ThreeCheck,
            _ => {
                let known = Variant::ALL.into_iter().find(|variant| variant.name() == plain);
                known.ok_or_else(|| UnknownVariant { name: name.chars().take(40).collect() })?
            }
        };
        Ok((variant, false))
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_variant() {
        for variant in Variant::ALL {
            assert_eq!(Variant::parse(&variant.to_string()), Ok((variant, false)));
            assert_eq!(Variant::from_shakmaty(variant.to_shakmaty()), variant);
        }
        assert_eq!(Variant::parse("KOTH"), Ok((Variant::KingOfTheHill, false)));
        assert_eq!(Variant::parse("Three-Check"), Ok((Variant::ThreeCheck, false)));
        assert_eq!(Variant::parse("Chess960"), Ok((Variant::Chess, true)));
        let refused = Variant::parse("shogi").unwrap_err().to_string();
        assert!(refused.contains("shogi") && refused.contains("racingkings"));
    }
}
