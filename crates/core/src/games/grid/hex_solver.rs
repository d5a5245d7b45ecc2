//! Who wins a position of Hex, on boards of at most eight columns: proof numbers over virtual connections.
//!
//! A position is decided where links show it; else the player to move has to play into all half links of the
//! other one, and only these moves are tried. A result has a *carrier*, the empty cells that the winner's
//! strategy uses. Where a move is refuted, so is every move outside the carrier of its refutation (Hayward
//! and others), so few moves are looked at. Dead and captured cells are filled in, and positions that are
//! equal then, or after a half turn, are one.

use std::collections::HashMap;

use super::hex_fill::{Layout, members};
use super::hex_links::{Connection, connection};
use crate::game::MoveCode;

/// The number of what cannot be shown.
const INFINITE: u32 = u32::MAX / 4;
/// One of so many moves is looked at, and this many more; the others wait until these are refuted.
const SHARE: usize = 4;
const LEAST: usize = 2;

/// A position without the cells that do not matter: pieces, and the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Board {
    pub pieces: [u64; 2],
    pub player: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Result {
    Open,
    Win,
    Loss,
}

/// What is known about a position, for the player to move.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// What is at least to be shown for a win, and for a loss.
    win: u32,
    loss: u32,
    result: Result,
    /// Moves that are not refuted.
    moves: u64,
    /// Cells of the refutations so far, or the carrier of the result.
    carrier: u64,
    best: u8,
}

/// The answer about a position.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// Whether the player to move wins.
    pub wins: bool,
    /// Best play as far as it was looked at, and at least one move; the rest is certain.
    pub line: Vec<MoveCode>,
}

/// A search with all that it has found out.
pub(super) struct Solver<'a> {
    layout: Layout,
    nodes: HashMap<Board, Node>,
    most: u64,
    cancel: &'a dyn Fn() -> bool,
}

impl<'a> Solver<'a> {
    /// A search that looks at no more than `most` positions.
    pub(super) fn new(size: usize, most: u64, cancel: &'a dyn Fn() -> bool) -> Solver<'a> {
        Solver { layout: Layout::new(size), nodes: HashMap::new(), most, cancel }
    }

    /// Positions whose links were looked for.
    pub(super) fn positions(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Who wins; `None` where the limit is too small.
    pub(super) fn solve(&mut self, pieces: [u64; 2], player: u8) -> Option<Answer> {
        let board = Board { pieces: self.layout.fill(pieces).0, player };
        let node = self.explore(board, [INFINITE, INFINITE]);
        if node.result == Result::Open {
            return None;
        }
        if node.best == Node::NO_MOVE {
            let best = self.first_move(board, pieces, node)? as u8;
            self.store(board, Node { best, ..node });
        }
        Some(Answer { wins: node.result == Result::Win, line: self.line(Board { pieces, player }) })
    }

    /// A move of a position whose result is certain: one that wins, or any.
    fn first_move(&mut self, board: Board, pieces: [u64; 2], node: Node) -> Option<usize> {
        let order = self.order(board);
        let Some(&first) = order.first() else {
            // Every cell is somebody's, or dead: any move will do.
            return members(self.layout.all & !(pieces[0] | pieces[1])).next();
        };
        // Who is connected already needs no move, and a loser has none.
        if node.result == Result::Loss || node.carrier == 0 {
            return Some(first);
        }
        let among: Vec<usize> = order.into_iter().filter(|&cell| node.carrier >> cell & 1 == 1).collect();
        let children: Vec<Board> = among.iter().map(|&cell| self.after(board, cell).0).collect();
        let is_seen = |solver: &mut Solver<'_>, child| solver.look(child).result == Result::Loss;
        let is_found = |solver: &mut Solver<'_>, child| {
            solver.explore(child, [INFINITE, INFINITE]).result == Result::Loss
        };
        let place = (0..among.len())
            .find(|&place| is_seen(self, children[place]))
            .or_else(|| (0..among.len()).find(|&place| is_found(self, children[place])));
        place.map(|place| among[place])
    }

    fn is_halted(&self) -> bool {
        self.positions() >= self.most || (self.cancel)()
    }

    /// The same position after a half turn.
    fn turned(&self, board: Board) -> Board {
        Board { pieces: board.pieces.map(|pieces| self.turn(pieces)), player: board.player }
    }

    fn turn(&self, cells: u64) -> u64 {
        cells.reverse_bits() >> (64 - self.layout.size * self.layout.size)
    }

    /// The name of a position in the table, and whether it is turned there.
    fn name(&self, board: Board) -> (Board, bool) {
        let turned = self.turned(board);
        if turned.pieces < board.pieces { (turned, true) } else { (board, false) }
    }

    fn turned_node(&self, node: Node, is_turned: bool) -> Node {
        if !is_turned {
            return node;
        }
        let last = self.layout.size * self.layout.size - 1;
        let best = if node.best == Node::NO_MOVE { node.best } else { last as u8 - node.best };
        Node { moves: self.turn(node.moves), carrier: self.turn(node.carrier), best, ..node }
    }

    fn find(&self, board: Board) -> Option<Node> {
        let (name, is_turned) = self.name(board);
        self.nodes.get(&name).map(|&node| self.turned_node(node, is_turned))
    }

    fn store(&mut self, board: Board, node: Node) {
        let (name, is_turned) = self.name(board);
        let node = self.turned_node(node, is_turned);
        self.nodes.insert(name, node);
    }

    /// A position as it is known, or as its links show it.
    fn look(&mut self, board: Board) -> Node {
        if let Some(node) = self.find(board) {
            return node;
        }
        let node = self.judge(board);
        self.store(board, node);
        node
    }

    fn judge(&self, board: Board) -> Node {
        let (size, player) = (self.layout.size, usize::from(board.player));
        let [mine, theirs] = [board.pieces[player], board.pieces[1 - player]];
        let ours = connection(mine, theirs, size, board.player, Connection::Half);
        if ours.connection >= Connection::Half {
            return Node::decided(Result::Win, ours.carrier);
        }
        let found = connection(theirs, mine, size, 1 - board.player, Connection::Full);
        if found.connection == Connection::Full {
            return Node::decided(Result::Loss, found.carrier);
        }
        let moves = found.needed & self.layout.all & !(mine | theirs);
        let carrier = found.reasons;
        if moves == 0 {
            return Node::decided(Result::Loss, carrier);
        }
        Node { win: 1, loss: moves.count_ones(), result: Result::Open, moves, carrier, best: 0 }
    }

    /// The position after a move, filled in, and what the two players have captured there.
    fn after(&self, board: Board, cell: usize) -> (Board, [u64; 2]) {
        let mut pieces = board.pieces;
        pieces[usize::from(board.player)] |= 1 << cell;
        let (pieces, captured) = self.layout.fill(pieces);
        (Board { pieces, player: 1 - board.player }, captured)
    }

    /// Works on a position until one of its numbers reaches its threshold (win, loss).
    fn explore(&mut self, board: Board, thresholds: [u32; 2]) -> Node {
        let mut node = self.look(board);
        if node.result != Result::Open {
            return node;
        }
        let player = usize::from(board.player);
        let order = self.order(board);
        let mut known: HashMap<usize, (Board, [u64; 2])> = HashMap::new();
        loop {
            let live: Vec<usize> =
                order.iter().copied().filter(|&cell| node.moves >> cell & 1 == 1).collect();
            if live.is_empty() {
                node = Node { best: node.best, ..Node::decided(Result::Loss, node.carrier) };
                break;
            }
            let looked_at = live.len().min(LEAST + live.len() / SHARE);
            let (mut best, mut least, mut second, mut largest) = (live[0], INFINITE, INFINITE, 0);
            let mut is_changed = false;
            for &cell in &live[..looked_at] {
                if self.is_halted() {
                    break;
                }
                let (child, captured) = *known.entry(cell).or_insert_with(|| self.after(board, cell));
                let found = self.look(child);
                match found.result {
                    Result::Loss => {
                        node = Node::decided(Result::Win, found.carrier | captured[player] | 1 << cell);
                        node.best = cell as u8;
                        self.store(board, node);
                        return node;
                    }
                    Result::Win => {
                        let carrier = found.carrier | captured[1 - player];
                        node.moves &= carrier & !(1 << cell);
                        node.carrier |= carrier;
                        node.best = cell as u8;
                        is_changed = true;
                        break;
                    }
                    Result::Open => {
                        largest = largest.max(found.win);
                        if found.loss < least {
                            (second, least, best) = (least, found.loss, cell);
                        } else {
                            second = second.min(found.loss);
                        }
                    }
                }
            }
            if is_changed {
                continue;
            }
            // Moves that wait count as well.
            let others = live.len() as u32 - 1;
            node.win = least;
            node.loss = (largest + others).min(INFINITE - 1);
            if node.win >= thresholds[0] || node.loss >= thresholds[1] || self.is_halted() {
                break;
            }
            let limits = [
                thresholds[1].saturating_sub(others),
                thresholds[0].min(second.saturating_add(second / 4 + 1)),
            ];
            let child = known[&best].0;
            self.explore(child, limits);
        }
        self.store(board, node);
        node
    }

    /// The empty cells, those first through which most current flows where the pieces of a player lead and
    /// those of the other one do not, for both players together.
    fn order(&self, board: Board) -> Vec<usize> {
        let flows = [0, 1].map(|player| self.layout.flow(board.pieces, player));
        let mut cells: Vec<usize> = members(self.layout.all & !(board.pieces[0] | board.pieces[1])).collect();
        cells.sort_by(|&a, &b| {
            let of = |cell: usize| flows[0][cell] * flows[1][cell];
            of(b).total_cmp(&of(a)).then(a.cmp(&b))
        });
        cells
    }

    /// The moves of the winner, and the moves of the loser that were refuted last, as far as they were looked
    /// at.
    fn line(&self, mut board: Board) -> Vec<MoveCode> {
        let mut line = Vec::new();
        loop {
            let filled = Board { pieces: self.layout.fill(board.pieces).0, ..board };
            let Some(node) = self.find(filled).filter(|node| node.best < Node::NO_MOVE) else { return line };
            let cell = usize::from(node.best);
            board.pieces[usize::from(board.player)] |= 1 << cell;
            board.player = 1 - board.player;
            line.push(MoveCode(cell as u16));
        }
    }
}

impl Node {
    /// No move is needed: the result is certain.
    const NO_MOVE: u8 = 64;

    fn decided(result: Result, carrier: u64) -> Node {
        let (win, loss) = if result == Result::Win { (0, INFINITE) } else { (INFINITE, 0) };
        Node { win, loss, result, moves: 0, carrier, best: Node::NO_MOVE }
    }
}
