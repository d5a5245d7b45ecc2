//! Cells of Hex that cannot matter, and cells that a player has already: both are filled in.
//!
//! A cell is *dead* if its colour changes the winner of no full board. That is so where its neighbours, seen
//! by one of the players (groups and edges of his are one point each, cells of the other one are none), are
//! all neighbours of each other: no shortest chain goes through it. Two cells are *captured* by a player if
//! his piece on either makes the other dead: whatever the other player does there, he answers. Filling both
//! in keeps the winner (Hayward and others).

use super::hex_links::neighbours;

/// Of a piece in a flow; an empty cell has 1.
const OWN_RESISTANCE: f64 = 0.02;
/// Rounds of relaxation.
const FLOW_ROUNDS: usize = 30;

/// The cells of a board of at most eight columns, and which are beside each other.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub size: usize,
    pub all: u64,
    pub beside: Vec<u64>,
    /// The cells at the two edges of each player.
    edges: [[u64; 2]; 2],
}

impl Layout {
    pub(super) fn new(size: usize) -> Layout {
        let cells = size * size;
        let beside =
            (0..cells).map(|cell| neighbours(cell, size).fold(0, |set, next| set | 1 << next)).collect();
        let mut edges = [[0; 2]; 2];
        for i in 0..size {
            edges[0][0] |= 1 << i;
            edges[0][1] |= 1 << (cells - 1 - i);
            edges[1][0] |= 1 << (i * size);
            edges[1][1] |= 1 << (i * size + size - 1);
        }
        Layout { size, all: u64::MAX >> (64 - cells), beside, edges }
    }

    /// The edges of a player that a set of cells touches, as two bits.
    fn touched(&self, cells: u64, player: usize) -> u8 {
        u8::from(cells & self.edges[player][0] != 0) | u8::from(cells & self.edges[player][1] != 0) << 1
    }

    /// The cells at those edges.
    fn at(&self, edges: u8, player: usize) -> u64 {
        let of = |index: usize| if edges >> index & 1 == 1 { self.edges[player][index] } else { 0 };
        of(0) | of(1)
    }

    /// The current through each cell between the edges of a player. His pieces lead well, empty cells less,
    /// pieces of the other one not at all.
    pub(super) fn flow(&self, pieces: [u64; 2], player: usize) -> Vec<f64> {
        let cells = self.beside.len();
        let (own, other) = (pieces[player], pieces[1 - player]);
        let resistance = |cell: usize| if own >> cell & 1 == 1 { OWN_RESISTANCE } else { 1.0 };
        let leads = |cell: usize| other >> cell & 1 == 0;
        let edge_of = |cell: usize, index: usize| self.edges[player][index] >> cell & 1 == 1;
        // Potentials, 1 at the first edge and 0 at the second, by relaxation.
        let mut potential = vec![0.5; cells];
        for _ in 0..FLOW_ROUNDS {
            for cell in members(self.all & !other) {
                let (mut sum, mut weight) = (0.0, 0.0);
                for next in members(self.beside[cell] & !other) {
                    let lead = 1.0 / (resistance(cell) + resistance(next));
                    (sum, weight) = (sum + lead * potential[next], weight + lead);
                }
                for (index, level) in [(0, 1.0), (1, 0.0)] {
                    if edge_of(cell, index) {
                        let lead = 1.0 / resistance(cell);
                        (sum, weight) = (sum + lead * level, weight + lead);
                    }
                }
                if weight > 0.0 {
                    potential[cell] = sum / weight;
                }
            }
        }
        (0..cells)
            .map(|cell| {
                if !leads(cell) {
                    return 0.0;
                }
                let mut current = 0.0;
                for next in members(self.beside[cell] & !other) {
                    current +=
                        (potential[cell] - potential[next]).abs() / (resistance(cell) + resistance(next));
                }
                for (index, level) in [(0, 1.0), (1, 0.0)] {
                    if edge_of(cell, index) {
                        current += (potential[cell] - level).abs() / resistance(cell);
                    }
                }
                current
            })
            .collect()
    }

    /// All cells beside a set of cells.
    fn around(&self, cells: u64) -> u64 {
        members(cells).fold(0, |set, cell| set | self.beside[cell])
    }

    /// Whether an empty cell is dead, as one of the players sees it.
    fn is_dead_for(&self, pieces: [u64; 2], cell: usize, player: usize) -> bool {
        let own = pieces[player];
        let empty = self.beside[cell] & !(pieces[0] | pieces[1]);
        let mut rest = members(empty);
        match (rest.next(), rest.next(), rest.next()) {
            (_, _, Some(_)) => return false,
            (Some(first), Some(second), None) if self.beside[first] >> second & 1 == 0 => return false,
            _ => {}
        }
        let (beside, edges) = (self.beside[cell] & own, self.touched(1 << cell, player));
        if beside == 0 && edges == 0 {
            return true;
        }
        // The one group that may be there, with its edges.
        let mut reached = if beside == 0 { 0 } else { beside & beside.wrapping_neg() };
        let mut at_edges = if beside == 0 { edges & edges.wrapping_neg() } else { 0 };
        loop {
            let edges_now = at_edges | self.touched(reached, player);
            let now = reached | (self.around(reached) | self.at(edges_now, player)) & own;
            if (now, edges_now) == (reached, at_edges) {
                break;
            }
            (reached, at_edges) = (now, edges_now);
        }
        let is_one = beside & !reached == 0 && edges & !at_edges == 0;
        let touching = self.around(reached) | self.at(at_edges, player);
        is_one && empty & !touching == 0
    }

    fn is_dead(&self, pieces: [u64; 2], cell: usize) -> bool {
        (0..2).any(|player| self.is_dead_for(pieces, cell, player))
    }

    /// Fills in dead and captured cells, dead ones as pieces of the first player. Returns the pieces, and the
    /// cells that each player has captured.
    pub(super) fn fill(&self, mut pieces: [u64; 2]) -> ([u64; 2], [u64; 2]) {
        let mut captured = [0; 2];
        loop {
            let before = pieces;
            for cell in members(self.all & !(pieces[0] | pieces[1])) {
                if self.is_dead(pieces, cell) {
                    pieces[0] |= 1 << cell;
                }
            }
            for first in members(self.all & !(pieces[0] | pieces[1])) {
                for second in members(self.beside[first] & !(pieces[0] | pieces[1]) & (u64::MAX << first)) {
                    if (pieces[0] | pieces[1]) >> first & 1 == 1 {
                        break;
                    }
                    for player in 0..2 {
                        let kills = |by: usize, other: usize| {
                            let mut next = pieces;
                            next[player] |= 1 << by;
                            self.is_dead(next, other)
                        };
                        if kills(first, second) && kills(second, first) {
                            pieces[player] |= 1 << first | 1 << second;
                            captured[player] |= 1 << first | 1 << second;
                            break;
                        }
                    }
                }
            }
            if pieces == before {
                return (pieces, captured);
            }
        }
    }
}

/// The cells of a set, ascending.
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let cell = set.trailing_zeros() as usize;
            set &= set - 1;
            cell
        })
    })
}
