//! Virtual connections of Hex: who has connected his edges already, however the rest is played.
//!
//! Points are the empty cells, the groups of a player and his two edges. Two points are *linked* by a set of
//! empty cells, the carrier, if the player can connect them there even though the other one moves first, and
//! *half linked* if he can when he moves first. The rules are those of H-search (Anshelevich): links over a
//! common group add up to a link, over a common empty cell to a half link with that cell as its key; half
//! links whose carriers have no cell in common are a link. What is found is certain, but not all there is.

use std::collections::VecDeque;

/// The largest board: a carrier is a word.
pub(super) const MOST_SIZE: usize = 8;
/// Carriers that are kept for two points. More find more, and take longer.
const MOST_LINKS: usize = 4;
const MOST_HALF_LINKS: usize = 8;
/// Half links that are joined at most.
const MOST_JOINED: u32 = 4;
/// Links that are looked at before the search is given up.
const MOST_STEPS: usize = 20_000;

/// How the two edges of a player are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Connection {
    /// Nothing is known.
    Unknown,
    /// If the player moves next.
    Half,
    /// Whoever moves next.
    Full,
}

/// What is known about the edges of a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub connection: Connection,
    /// The empty cells that the connection needs; of several the fewest.
    pub carrier: u64,
    /// The cells that all half links need: the other player must move there, or the player wins.
    pub needed: u64,
    /// The cells of the half links that say so.
    pub reasons: u64,
}

/// The connection of the edges of a player: his pieces, those of the other one, and the number of columns.
/// Where the search finds `enough`, no more is looked for.
pub(super) fn connection(own: u64, other: u64, size: usize, player: u8, enough: Connection) -> Found {
    let mut links = Links::new(own, other, size, player);
    let connection = links.search(enough);
    let pair = links.pair(FIRST_EDGE, SECOND_EDGE);
    let known = match connection {
        Connection::Full => &links.links[pair],
        _ => &links.half_links[pair],
    };
    let carrier = known.iter().copied().min_by_key(|carrier| carrier.count_ones()).unwrap_or(0);
    let (mut needed, mut reasons) = (u64::MAX, 0);
    for &half in &links.half_links[pair] {
        if needed & !half != 0 {
            (needed, reasons) = (needed & half, reasons | half);
        }
    }
    Found { connection, carrier, needed, reasons }
}

/// Links between points. Points 0 and 1 are the edges.
struct Links {
    /// The cell of each empty point, as a set; none for groups and edges.
    cells: Vec<u64>,
    links: Vec<Vec<u64>>,
    half_links: Vec<Vec<u64>>,
    waiting: VecDeque<(usize, usize, u64)>,
}

const FIRST_EDGE: usize = 0;
const SECOND_EDGE: usize = 1;
const NO_POINT: usize = usize::MAX;

impl Links {
    fn new(own: u64, other: u64, size: usize, player: u8) -> Links {
        let mut cells = vec![0; 2];
        let point_of = number_points(own, other, size, &mut cells);
        let pairs = cells.len() * cells.len();
        let mut links = Links {
            cells,
            links: vec![Vec::new(); pairs],
            half_links: vec![Vec::new(); pairs],
            waiting: VecDeque::new(),
        };
        for cell in 0..size * size {
            let point = point_of[cell];
            if point == NO_POINT {
                continue;
            }
            let along = if player == 0 { cell / size } else { cell % size };
            if along == 0 {
                links.add_link(FIRST_EDGE, point, 0);
            }
            if along == size - 1 {
                links.add_link(SECOND_EDGE, point, 0);
            }
            for next in neighbours(cell, size) {
                if next > cell && point_of[next] != NO_POINT && point_of[next] != point {
                    links.add_link(point, point_of[next], 0);
                }
            }
        }
        links
    }

    fn search(&mut self, enough: Connection) -> Connection {
        let mut steps = 0;
        while let Some((first, second, carrier)) = self.waiting.pop_front() {
            steps += 1;
            if self.found() >= enough || steps > MOST_STEPS {
                break;
            }
            // One that was replaced by a smaller one adds nothing.
            if self.links[self.pair(first, second)].contains(&carrier) {
                self.extend(first, second, carrier);
                self.extend(second, first, carrier);
            }
        }
        self.found()
    }

    fn found(&self) -> Connection {
        let pair = self.pair(FIRST_EDGE, SECOND_EDGE);
        if !self.links[pair].is_empty() {
            Connection::Full
        } else if !self.half_links[pair].is_empty() {
            Connection::Half
        } else {
            Connection::Unknown
        }
    }

    fn pair(&self, first: usize, second: usize) -> usize {
        first.min(second) * self.cells.len() + first.max(second)
    }

    /// Joins a link from a point to a middle with all links from there.
    fn extend(&mut self, from: usize, middle: usize, carrier: u64) {
        let key = self.cells[middle];
        for to in 0..self.cells.len() {
            if to == from || to == middle || self.cells[to] & carrier != 0 {
                continue;
            }
            let pair = self.pair(middle, to);
            for index in 0..self.links[pair].len() {
                let Some(&other) = self.links[pair].get(index) else { break };
                if other & (carrier | self.cells[from]) != 0 {
                    continue;
                }
                if key == 0 {
                    self.add_link(from, to, carrier | other);
                } else {
                    self.add_half_link(from, to, carrier | other | key);
                }
            }
        }
    }

    fn add_link(&mut self, first: usize, second: usize, carrier: u64) {
        let pair = self.pair(first, second);
        if add_smallest(&mut self.links[pair], carrier, MOST_LINKS) {
            self.waiting.push_back((first, second, carrier));
        }
    }

    fn add_half_link(&mut self, first: usize, second: usize, carrier: u64) {
        let pair = self.pair(first, second);
        let is_known = |known: &u64| known & !carrier == 0;
        if !self.links[pair].iter().any(is_known)
            && add_smallest(&mut self.half_links[pair], carrier, MOST_HALF_LINKS)
        {
            self.join(first, second, (carrier, carrier), MOST_JOINED - 1, 0);
        }
    }

    /// Looks for half links, from a place in the list on, that leave no cell in common with those joined so
    /// far, whose common cells and union are given.
    fn join(&mut self, first: usize, second: usize, (common, union): (u64, u64), more: u32, from: usize) {
        let pair = self.pair(first, second);
        for index in from..self.half_links[pair].len() {
            let other = self.half_links[pair][index];
            let left = common & other;
            if left == 0 {
                self.add_link(first, second, union | other);
            } else if left != common && more > 1 {
                self.join(first, second, (left, union | other), more - 1, index + 1);
            }
        }
    }
}

/// Adds a set of cells unless it holds one that is there; sets that hold it go. Returns whether it was added.
/// Where there is no room, the largest set goes.
fn add_smallest(sets: &mut Vec<u64>, new: u64, most: usize) -> bool {
    if sets.iter().any(|known| known & !new == 0) {
        return false;
    }
    sets.retain(|known| new & !known != 0);
    if sets.len() == most {
        let largest = (0..most).max_by_key(|&index| sets[index].count_ones()).unwrap_or(0);
        if sets[largest].count_ones() <= new.count_ones() {
            return false;
        }
        sets.swap_remove(largest);
    }
    sets.push(new);
    true
}

/// The point of each cell: one for each empty cell and each group of a player.
fn number_points(own: u64, other: u64, size: usize, cells: &mut Vec<u64>) -> Vec<usize> {
    let mut point_of = vec![NO_POINT; size * size];
    for cell in 0..size * size {
        if other >> cell & 1 == 1 || point_of[cell] != NO_POINT {
            continue;
        }
        let point = cells.len();
        if own >> cell & 1 == 0 {
            cells.push(1 << cell);
            point_of[cell] = point;
            continue;
        }
        cells.push(0);
        let mut stack = vec![cell];
        while let Some(next) = stack.pop() {
            if own >> next & 1 == 1 && point_of[next] == NO_POINT {
                point_of[next] = point;
                stack.extend(neighbours(next, size));
            }
        }
    }
    point_of
}

/// The cells beside a cell.
pub(super) fn neighbours(cell: usize, size: usize) -> impl Iterator<Item = usize> {
    let (x, y) = ((cell % size) as isize, (cell / size) as isize);
    let range = 0..size as isize;
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)]
        .into_iter()
        .map(move |(dx, dy)| (x + dx, y + dy))
        .filter(move |(x, y)| range.contains(x) && range.contains(y))
        .map(move |(x, y)| y as usize * size + x as usize)
}
