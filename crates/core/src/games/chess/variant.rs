//! The variants of chess and their names.
//!
//! Names are read with the usual spellings; one spelling is written. Chess960 is chess with another castling
//! notation.

use std::fmt;
use std::str::FromStr;

/// A variant of chess. Chess960 is [`Variant::Chess`] with another notation of castling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Chess, and Chess960.
    Chess,
    /// Captured pieces change sides and are dropped on the board.
    Crazyhouse,
    /// Captures explode.
    Atomic,
    /// Who has no move wins; captures are compulsory.
    Antichess,
    /// A king in the centre wins.
    KingOfTheHill,
    /// The third check wins.
    ThreeCheck,
    /// The first king on the eighth rank wins.
    RacingKings,
    /// A horde of pawns against an army.
    Horde,
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
    /// All variants.
    pub const ALL: [Variant; 8] = [
        Variant::Chess,
        Variant::Crazyhouse,
        Variant::Atomic,
        Variant::Antichess,
        Variant::KingOfTheHill,
        Variant::ThreeCheck,
        Variant::RacingKings,
        Variant::Horde,
    ];

    /// The name that UCI uses.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Chess => "chess",
            Variant::Crazyhouse => "crazyhouse",
            Variant::Atomic => "atomic",
            Variant::Antichess => "antichess",
            Variant::KingOfTheHill => "kingofthehill",
            Variant::ThreeCheck => "3check",
            Variant::RacingKings => "racingkings",
            Variant::Horde => "horde",
        }
    }

    /// Reads a name; returns also whether it is that of Chess960.
    pub fn parse(name: &str) -> Result<(Variant, bool), UnknownVariant> {
        let plain: String = name
            .chars()
            .take(40)
            .filter(|letter| !matches!(letter, ' ' | '-' | '_'))
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        let variant = match plain.as_str() {
            "chess" | "standard" | "normal" => Variant::Chess,
            "chess960" | "fischerandom" => return Ok((Variant::Chess, true)),
            "crazyhouse" => Variant::Crazyhouse,
            "atomic" => Variant::Atomic,
            "antichess" | "giveaway" => Variant::Antichess,
            "kingofthehill" | "koth" => Variant::KingOfTheHill,
            "3check" | "threecheck" => Variant::ThreeCheck,
            "racingkings" => Variant::RacingKings,
            "horde" => Variant::Horde,
            _ => {
                return Err(UnknownVariant { name: name.chars().take(40).collect() });
            }
        };
        Ok((variant, false))
    }

    pub(super) const fn to_shakmaty(self) -> shakmaty::variant::Variant {
        use shakmaty::variant::Variant as Theirs;
        match self {
            Variant::Chess => Theirs::Chess,
            Variant::Crazyhouse => Theirs::Crazyhouse,
            Variant::Atomic => Theirs::Atomic,
            Variant::Antichess => Theirs::Antichess,
            Variant::KingOfTheHill => Theirs::KingOfTheHill,
            Variant::ThreeCheck => Theirs::ThreeCheck,
            Variant::RacingKings => Theirs::RacingKings,
            Variant::Horde => Theirs::Horde,
        }
    }

    pub(super) const fn from_shakmaty(variant: shakmaty::variant::Variant) -> Variant {
        use shakmaty::variant::Variant as Theirs;
        match variant {
            Theirs::Chess => Variant::Chess,
            Theirs::Crazyhouse => Variant::Crazyhouse,
            Theirs::Atomic => Variant::Atomic,
            Theirs::Antichess => Variant::Antichess,
            Theirs::KingOfTheHill => Variant::KingOfTheHill,
            Theirs::ThreeCheck => Variant::ThreeCheck,
            Theirs::RacingKings => Variant::RacingKings,
            Theirs::Horde => Variant::Horde,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Variant, UnknownVariant> {
        Variant::parse(name).map(|(variant, _)| variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_variant() {
        for variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
            assert_eq!(Variant::from_shakmaty(variant.to_shakmaty()), variant);
        }
        assert_eq!("KOTH".parse(), Ok(Variant::KingOfTheHill));
        assert_eq!("Three-Check".parse(), Ok(Variant::ThreeCheck));
        assert_eq!(Variant::parse("Chess960"), Ok((Variant::Chess, true)));
        let refused = "shogi".parse::<Variant>().unwrap_err().to_string();
        assert!(refused.contains("shogi") && refused.contains("racingkings"));
    }
}
