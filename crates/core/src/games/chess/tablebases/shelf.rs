//! The table files of some directories: which endings they hold, and whether they can be used.
//!
//! A file is checked before it is used: size, first bytes, and the checksum at its end where the file
//! is small or everything is to be checked. An ending needs both of its files. Nothing is probed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use shakmaty::Chess;
use shakmaty::variant::{Antichess, Atomic};
use shakmaty_syzygy::{Syzygy, TableType};

use super::checksum;

/// Files up to this size are read whole: all tables of three and four men, and some more.
pub const SMALL: u64 = 1 << 20;

/// How thoroughly files are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Small ones wholly, the others at their ends.
    Quick,
    /// Every byte of every file.
    Whole,
}

/// The games for which there are tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Chess.
    Chess,
    /// Atomic chess.
    Atomic,
    /// Antichess.
    Antichess,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 3] = [Family::Chess, Family::Atomic, Family::Antichess];
}

/// Whether a table has results or distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TableKind {
    Results,
    Distances,
}

/// The parts of a file's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Title {
    family: Family,
    ending: String,
    kind: TableKind,
}

struct Volume {
    path: PathBuf,
    partner: &'static str,
}

/// The files found so far, and what is wrong with others.
#[derive(Default)]
pub struct Shelf {
    volumes: BTreeMap<Title, Volume>,
    problems: Vec<String>,
    usable: BTreeMap<Family, Vec<PathBuf>>,
}

/// The kinds of files: family, kind, what their first bytes are, and the suffix of the partner.
fn formats() -> impl Iterator<Item = (Family, TableKind, TableType, &'static str)> {
    let pawnless = Antichess::PAWNLESS_TBW.zip(Antichess::PAWNLESS_TBZ);
    [
        (Family::Chess, Chess::TBW, Chess::TBZ),
        (Family::Atomic, Atomic::TBW, Atomic::TBZ),
        (Family::Antichess, Antichess::TBW, Antichess::TBZ),
    ]
    .into_iter()
    .chain(pawnless.map(|(results, distances)| (Family::Antichess, results, distances)))
    .flat_map(|(family, results, distances)| {
        let (first, second) = (results.ext, distances.ext);
        [(family, TableKind::Results, results, second), (family, TableKind::Distances, distances, first)]
    })
}

impl Shelf {
    /// Takes the tables of a directory; of two files of one name the first is used.
    pub fn add(&mut self, directory: &Path, check: Check) {
        let listed = std::fs::read_dir(directory)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
        let mut paths: Vec<PathBuf> = match listed {
            Ok(paths) => paths,
            Err(error) => {
                self.problems.push(format!("The directory {} cannot be read: {error}.", directory.display()));
                return;
            }
        };
        paths.sort_unstable();
        for path in paths {
            let Some((ending, suffix)) = name_of(&path) else { continue };
            let Some((family, kind, format, partner)) =
                formats().find(|(.., format, _)| format.ext == suffix)
            else {
                continue;
            };
            let title = Title { family, ending, kind };
            if self.volumes.contains_key(&title) {
                continue;
            }
            match inspect(&path, &title.ending, &format, check) {
                Ok(()) => drop(self.volumes.insert(title, Volume { path, partner })),
                Err(reason) => self.problems.push(format!("{} is skipped: {reason}.", path.display())),
            }
        }
    }

    /// Leaves out endings that lack one of their files, and returns what is wrong with this collection.
    pub fn settle(&mut self) -> Vec<String> {
        let mut problems = std::mem::take(&mut self.problems);
        let mut endings: BTreeSet<&str> = BTreeSet::new();
        for (title, volume) in &self.volumes {
            let kind =
                if title.kind == TableKind::Results { TableKind::Distances } else { TableKind::Results };
            if self.volumes.contains_key(&Title { kind, ..title.clone() }) {
                self.usable.entry(title.family).or_default().push(volume.path.clone());
                if title.family == Family::Chess {
                    endings.insert(&title.ending);
                }
            } else {
                problems.push(format!(
                    "{} is skipped: {}.{}, which belongs to it, is missing or cannot be used.",
                    volume.path.display(),
                    title.ending,
                    volume.partner
                ));
            }
        }
        problems.extend(missing_endings(&endings));
        problems
    }

    /// The files of a game that can be used.
    pub fn files(&self, family: Family) -> &[PathBuf] {
        self.usable.get(&family).map_or(&[], Vec::as_slice)
    }
}

/// Ending and suffix, if the file is named like a table.
fn name_of(path: &Path) -> Option<(String, &str)> {
    let (stem, suffix) = (path.file_stem()?.to_str()?, path.extension()?.to_str()?);
    let (white, black) = stem.split_once('v')?;
    let is_side = |side: &str| !side.is_empty() && side.chars().all(|letter| "KQRBNP".contains(letter));
    (is_side(white) && is_side(black) && white.len() + black.len() <= 7).then(|| (stem.to_owned(), suffix))
}

/// Looks at a file; what is wrong with it, if something is.
fn inspect(path: &Path, ending: &str, format: &TableType, check: Check) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    if !facts.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let length = facts.len();
    if length < 64 || length % 64 != checksum::SIZE {
        return Err(format!("no table has {length} bytes, so it is truncated or something else"));
    }
    let mut head = [0; 5];
    file.read_exact(&mut head).map_err(unreadable)?;
    if head[..4] != format.magic {
        return Err("it does not begin like a table".to_owned());
    }
    // The first bit: the two sides have different men. The second: there are pawns.
    let (white, black) = ending.split_once('v').unwrap_or((ending, ""));
    let layout = u8::from(white != black) | u8::from(ending.contains('P')) << 1;
    if head[4] & 3 != layout {
        return Err("its header is that of another ending".to_owned());
    }
    if check == Check::Whole || length <= SMALL {
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        if !checksum::matches(&mut file, length).map_err(unreadable)? {
            return Err("its checksum does not match, so it is damaged".to_owned());
        }
    }
    Ok(())
}

/// The endings that others lead to by one capture or promotion and that are not there: positions before them
/// may get no answer.
fn missing_endings(endings: &BTreeSet<&str>) -> Vec<String> {
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for ending in endings {
        let Some((white, black)) = ending.split_once('v') else { continue };
        let nearer: BTreeSet<String> = successors(white)
            .map(|side| join(&side, black))
            .chain(successors(black).map(|side| join(white, &side)))
            .collect();
        for next in nearer {
            let reversed =
                next.split_once('v').map_or_else(String::new, |(white, black)| format!("{black}v{white}"));
            if next != "KvK" && !endings.contains(next.as_str()) && !endings.contains(reversed.as_str()) {
                *wanted.entry(next).or_default() += 1;
            }
        }
    }
    let sentence = |(ending, count): (String, usize)| {
        let others = if count == 1 { "ending leads" } else { "endings lead" };
        format!("The tables of {ending} are missing or cannot be used, and {count} {others} there.")
    };
    wanted.into_iter().map(sentence).collect()
}

/// A side after one of its men was taken or one of its pawns promoted.
fn successors(side: &str) -> impl Iterator<Item = String> + '_ {
    side.char_indices().filter(|&(_, letter)| letter != 'K').flat_map(move |(at, letter)| {
        let without = format!("{}{}", &side[..at], &side[at + 1..]);
        let promoted = if letter == 'P' { "QRBN" } else { "" };
        let others = promoted.chars().map({
            let without = without.clone();
            move |piece| sorted(&format!("{without}{piece}"))
        });
        std::iter::once(without).chain(others)
    })
}

fn sorted(side: &str) -> String {
    let mut letters: Vec<char> = side.chars().collect();
    letters.sort_by_key(|letter| "KQRBNP".find(*letter));
    letters.into_iter().collect()
}

/// The ending's name with the stronger side first, as files are named.
fn join(one: &str, other: &str) -> String {
    let strength = |side: &str| {
        (side.len(), side.chars().map(|letter| 5 - "KQRBNP".find(letter).unwrap_or(5)).collect::<Vec<_>>())
    };
    if strength(one) >= strength(other) { format!("{one}v{other}") } else { format!("{other}v{one}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_lead_on_by_captures_and_promotions() {
        let of_pawn: BTreeSet<&str> = BTreeSet::from(["KPvK", "KQvK", "KRvK", "KNvK"]);
        let missing = missing_endings(&of_pawn);
        assert_eq!(missing, ["The tables of KBvK are missing or cannot be used, and 1 ending leads there."]);
        let of_rook = ["KRvKP", "KRvK", "KPvK", "KQvK", "KRvKR", "KRvKB", "KRvKN", "KQvKR", "KBvK", "KNvK"];
        assert!(missing_endings(&BTreeSet::from(of_rook)).is_empty());
    }

    #[test]
    fn names_are_read_with_care() {
        let name = |text: &str| name_of(Path::new(text)).map(|(ending, suffix)| format!("{ending} {suffix}"));
        assert_eq!(name("a/KQvKR.rtbw").as_deref(), Some("KQvKR rtbw"));
        assert_eq!(name("KQvKR"), None);
        assert_eq!(name("vK.rtbw"), None);
        assert_eq!(name("KQQQvKQQQ.rtbw"), None);
        assert_eq!(name("KXvK.rtbw"), None);
    }
}
