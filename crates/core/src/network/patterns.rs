//! The features of a game on a grid: the state of every pattern, a short list of cells that the network file
//! names, and the planes that are the same on all cells.
//!
//! A cell is empty, the own side's or the enemy's; where pieces fall, an empty cell on which one would come
//! to rest is a fourth state. So a pattern of `n` cells has `states^n` features, one of which is active.

use crate::game::Game;
use crate::games::grid::GridGame;

/// Cells of the longest pattern.
const LONGEST: usize = 10;
/// Planes of cells; the others are the same on all of them.
const CELL_PLANES: usize = 2;
/// Value heads, by the number of pieces.
const BUCKETS: usize = 8;

/// The patterns of a network.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    /// First feature and cells of each.
    list: Vec<(u16, Vec<u16>)>,
    falls: bool,
    shape: [usize; 3],
    /// First feature of the planes that are the same on all cells.
    planes: u16,
    features: usize,
}

/// What a thread keeps between positions.
#[derive(Debug, Default)]
pub(super) struct PatternScratch {
    planes: Vec<f32>,
    states: Vec<u16>,
    pub features: Vec<u16>,
}

impl Patterns {
    /// Reads rows of cells that end with -1. `falls`: pieces fall, so that there are four states.
    pub fn read(
        rows: impl Iterator<Item = i16>,
        length: usize,
        falls: bool,
        shape: [usize; 3],
    ) -> Result<Patterns, String> {
        let area = shape[1] * shape[2];
        let (states, numbers) = (if falls { 4 } else { 3 }, rows.collect::<Vec<i16>>());
        if length == 0 || length > LONGEST || numbers.is_empty() {
            return Err(format!("its patterns have {length} cells, and 1 to {LONGEST} are possible"));
        }
        let (mut list, mut next) = (Vec::new(), 0_usize);
        for row in numbers.chunks(length) {
            let cells: Vec<u16> = row.iter().map_while(|&cell| u16::try_from(cell).ok()).collect();
            if cells.is_empty() || cells.iter().any(|&cell| usize::from(cell) >= area) {
                return Err("its patterns have cells that are not on the board".to_owned());
            }
            let first = u16::try_from(next).map_err(|_| "it has too many features".to_owned())?;
            next += usize::pow(states, cells.len() as u32);
            list.push((first, cells));
        }
        let planes = u16::try_from(next).map_err(|_| "it has too many features".to_owned())?;
        let features = next + shape[0].saturating_sub(CELL_PLANES);
        if features > usize::from(u16::MAX) {
            return Err("it has too many features".to_owned());
        }
        Ok(Patterns { list, falls, shape, planes, features })
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Writes the active features of a position; returns its bucket.
    pub fn fill(&self, game: &GridGame, scratch: &mut PatternScratch) -> usize {
        let [count, height, width] = self.shape;
        let area = height * width;
        let PatternScratch { planes, states, features } = scratch;
        planes.resize(count * area, 0.0);
        states.resize(area, 0);
        game.fill_planes(&[], 0, planes);
        let mut pieces = 0;
        for cell in 0..area {
            states[cell] = if planes[cell] > 0.0 {
                1
            } else if planes[area + cell] > 0.0 {
                2
            } else {
                0
            };
            pieces += usize::from(states[cell] > 0);
        }
        if self.falls {
            for x in 0..width {
                let free = (0..height).rev().map(|y| y * width + x).find(|&cell| states[cell] == 0);
                if let Some(cell) = free {
                    states[cell] = 3;
                }
            }
        }
        let base = if self.falls { 4 } else { 3 };
        features.clear();
        features.extend(self.list.iter().map(|(first, cells)| {
            first + cells.iter().rev().fold(0, |sum, &cell| sum * base + states[usize::from(cell)])
        }));
        let constant = planes.chunks_exact(area).skip(CELL_PLANES).enumerate();
        features.extend(
            constant.filter(|(_, plane)| plane[0] > 0.0).map(|(number, _)| self.planes + number as u16),
        );
        (pieces * BUCKETS / (area + 1)).min(BUCKETS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::grid::catalogue::Named;

    fn start() -> GridGame {
        Named::parse("connect-four").unwrap().start()
    }

    #[test]
    fn states_of_cells_make_one_feature_of_each_pattern() {
        let game = start().read("......./......./......./......./...o.../..xx... o").unwrap();
        // The bottom row from column 2 on, and column 4 from the bottom.
        let rows = [36, 37, 38, 39, 38, 31, 24, -1];
        let patterns = Patterns::read(rows.into_iter(), 4, true, [3, 6, 7]).unwrap();
        assert_eq!(patterns.features(), 256 + 64 + 1);
        let mut scratch = PatternScratch::default();
        // Three pieces of 42; o to move: x is the enemy, 2; cells to which a piece falls are 3.
        assert_eq!(patterns.fill(&game, &mut scratch), 0);
        assert_eq!(scratch.features, [3 + 4 * 2 + 16 * 2 + 64 * 3, 256 + 2 + 4 + 16 * 3]);
        let plain = Patterns::read(rows.into_iter(), 4, false, [3, 6, 7]).unwrap();
        plain.fill(&start(), &mut scratch);
        assert_eq!(scratch.features, [0, 81, 81 + 27]);
    }

    #[test]
    fn bad_patterns_are_refused() {
        for (rows, length, word) in [
            (vec![1, 42], 2, "not on the board"),
            (vec![-1, 1], 2, "not on the board"),
            (vec![], 2, "1 to"),
            (vec![1; 11], 11, "1 to"),
            ((35..45).collect(), 10, "not on the board"),
            ((0..40).collect(), 10, "too many"),
        ] {
            let refused = Patterns::read(rows.into_iter(), length, true, [3, 6, 7]).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
