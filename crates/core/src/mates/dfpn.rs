//! Depth-first proof-number search: which of the attacker's moves win against every defence.
//!
//! A position has a proof number, a lower bound of what is still to be shown for a win, and a disproof
//! number, the same against it (Nagai's df-pn; the thresholds grow by a quarter as in Pawlewicz and Lew). The
//! numbers of several children are joined as the largest plus one for each other child, so that positions
//! reached on several paths are not counted several times. A repetition disproves on its path alone
//! (Kishimoto and Mueller); a proof never rests on one, so it is a fact of the position.

use super::table::{INFINITE, Numbers, ON_ALL_PATHS, Table, UNBOUNDED};
use super::{Attack, Question, Verdict, identity};
use crate::game::{Ending, Game, MoveCode};
use crate::random::mix;

/// Positions between two questions whether the search is cancelled.
const CANCEL_PERIOD: u64 = 128;

/// A solver with its table. What it learned is used again until it is cleared: the next question must then
/// have the same attacker, attack and history.
#[derive(Debug)]
pub struct Solver {
    pub(super) table: Table,
    children: Vec<Child>,
    path: Vec<u64>,
    moves: Vec<MoveCode>,
    positions: u64,
    limit: u64,
    halted: bool,
    is_exhausted: bool,
}

/// A move of a position on the path, with the numbers of the position that it leads to.
#[derive(Clone, Copy, Debug)]
struct Child {
    key: u64,
    numbers: Numbers,
    mv: MoveCode,
    group: Option<u8>,
    known: bool,
}

/// The numbers of a position from those of its children, and the child to look at next.
struct Tally {
    numbers: Numbers,
    best: usize,
    /// What the number that selects is at the second best child.
    second: u32,
    /// Children that are neither proven nor disproven, and count.
    count: u32,
}

impl Default for Solver {
    /// A solver whose table is as large as it needs to be.
    fn default() -> Solver {
        Solver::new(usize::MAX)
    }
}

impl Solver {
    /// A solver with a table of at most so many positions.
    pub fn new(most_entries: usize) -> Solver {
        Solver {
            table: Table::new(most_entries),
            children: Vec::new(),
            path: Vec::new(),
            moves: Vec::new(),
            positions: 0,
            limit: 0,
            halted: false,
            is_exhausted: false,
        }
    }

    /// A solver whose table takes at most so many bytes.
    pub fn with_memory(bytes: usize) -> Solver {
        Solver::new(Table::entries_in(bytes))
    }

    /// Bounds the table by so many bytes from now on.
    pub fn set_memory(&mut self, bytes: usize) {
        self.table.set_most(Table::entries_in(bytes));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// How often the moves of a position were listed, since the solver was made.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Searches for a win with at most `budget` further positions. Returns the length of the proof with a
    /// win.
    pub fn search<G: Game>(&mut self, question: &Question<'_, G>, budget: u64) -> (Verdict, u16) {
        self.limit = self.positions.saturating_add(budget);
        self.halted = budget == 0;
        self.path.clear();
        self.children.clear();
        let key = identity(question.game);
        if self.table.find(key, 0, question.depth).is_none() {
            self.judge(question, question.game, key, 0);
        }
        let numbers = self.explore(question, question.game, key, 0, [INFINITE, INFINITE]);
        self.is_exhausted = numbers.is_disproven();
        if numbers.is_proven() {
            (Verdict::Win, numbers.plies)
        } else if numbers.is_disproven() && numbers.plies == UNBOUNDED {
            (Verdict::NoWin, 0)
        } else {
            (Verdict::Open, 0)
        }
    }

    /// Whether the last search has seen all lines up to its depth, without a win.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Plies that the path's end has left.
    fn left<G>(&self, question: &Question<'_, G>) -> u16 {
        question.depth.saturating_sub(self.path.len() as u16)
    }

    /// Works on a position on the path until one of its numbers reaches its threshold (proof, disproof).
    fn explore<G: Game>(
        &mut self,
        question: &Question<'_, G>,
        game: &G,
        key: u64,
        before: u64,
        thresholds: [u32; 2],
    ) -> Numbers {
        // A line elsewhere may have settled it. What is proven stays as it was proven first: proofs rest on
        // earlier ones, so none can come to rest on itself.
        if let Some(known) = self.table.find(key, before as u32, self.left(question))
            && (known.is_proven() || known.is_disproven())
        {
            return known;
        }
        let is_attack = game.player() == question.attacker;
        let (first, begun) = (self.children.len(), self.positions);
        self.count(question);
        self.list(question, game, is_attack);
        self.path.push(key);
        let here = mix(before ^ key);
        let mut numbers = loop {
            let tally = if is_attack {
                self.tally_attack(question, game, first, here)
            } else {
                self.tally_defence(question, game, first, here)
            };
            let numbers = tally.numbers;
            if numbers.proof >= thresholds[0] || numbers.disproof >= thresholds[1] || self.halted {
                break numbers;
            }
            // The number that the best child is chosen by may pass the second best one by a quarter; the
            // other one has what the siblings leave of the threshold.
            let chosen_by = usize::from(!is_attack);
            let mut limits = [0; 2];
            limits[chosen_by] = thresholds[chosen_by].min(tally.second + tally.second / 4 + 1);
            limits[1 - chosen_by] = thresholds[1 - chosen_by].saturating_sub(tally.count - 1);
            let child = self.children[tally.best];
            let mut next = game.clone();
            next.play(child.mv);
            let numbers = self.explore(question, &next, child.key, here, limits);
            self.children[tally.best].numbers = within_depth(numbers, self.left(question));
        };
        self.path.pop();
        self.children.truncate(first);
        // A repetition of this position or of one below it is the same on every path.
        if numbers.is_disproven() && usize::from(numbers.repeats) > self.path.len() {
            numbers.repeats = ON_ALL_PATHS;
        }
        let work = u32::try_from(self.positions - begun).unwrap_or(u32::MAX);
        self.table.store(key, before as u32, numbers, work);
        numbers
    }

    /// Pushes the moves of a position, without their numbers.
    fn list<G: Game>(&mut self, question: &Question<'_, G>, game: &G, is_attack: bool) {
        game.legal_moves(&mut self.moves);
        if is_attack && question.attack == Attack::Checks {
            game.retain_checks(&mut self.moves);
        }
        for &mv in &self.moves {
            let group = if is_attack { None } else { game.reply_group(mv) };
            self.children.push(Child { key: 0, numbers: Numbers::open(1, 1), mv, group, known: false });
        }
    }

    /// The attacker needs one winning move.
    fn tally_attack<G: Game>(
        &mut self,
        question: &Question<'_, G>,
        game: &G,
        first: usize,
        here: u64,
    ) -> Tally {
        let (mut least, mut second, mut largest, mut count) = (INFINITE, INFINITE, 0, 0);
        let (mut best, mut repeats, mut reach) = (first, ON_ALL_PATHS, UNBOUNDED);
        for index in first..self.children.len() {
            let child = self.known_child(question, game, index, here);
            let numbers = child.numbers;
            if numbers.is_proven() {
                let proven = Numbers::proven(numbers.plies.saturating_add(1), child.mv);
                return Tally { numbers: proven, best: index, second: 0, count: 1 };
            }
            if numbers.is_disproven() {
                repeats = repeats.min(numbers.repeats);
                reach = reach.min(numbers.plies.saturating_add(1));
                continue;
            }
            count += 1;
            largest = largest.max(numbers.disproof);
            if numbers.proof < least {
                (second, least, best) = (least, numbers.proof, index);
            } else {
                second = second.min(numbers.proof);
            }
        }
        let numbers = if count == 0 {
            Numbers::disproven(repeats, reach)
        } else {
            Numbers::open(least, (largest + count - 1).min(INFINITE - 1))
        };
        Tally { numbers, best, second, count }
    }

    /// The defender needs one move that does not lose. Of a group of moves only the first that is not
    /// proven counts: the others wait, and are often lost in the same way.
    fn tally_defence<G: Game>(
        &mut self,
        question: &Question<'_, G>,
        game: &G,
        first: usize,
        here: u64,
    ) -> Tally {
        let (mut least, mut second, mut largest, mut count) = (INFINITE, INFINITE, 0, 0);
        let (mut best, mut longest) = (first, (0, MoveCode(0)));
        let mut groups = 0u64;
        for index in first..self.children.len() {
            let Child { group, known, .. } = self.children[index];
            let waits = group.is_some_and(|group| groups >> group & 1 != 0);
            if waits && !known {
                continue;
            }
            let child = self.known_child(question, game, index, here);
            let numbers = child.numbers;
            if numbers.is_proven() {
                if numbers.plies >= longest.0 {
                    longest = (numbers.plies, child.mv);
                }
                continue;
            }
            if numbers.is_disproven() {
                let disproven = Numbers::disproven(numbers.repeats, numbers.plies.saturating_add(1));
                return Tally { numbers: disproven, best: index, second: 0, count: 1 };
            }
            if waits {
                continue;
            }
            groups |= group.map_or(0, |group| 1 << group);
            count += 1;
            largest = largest.max(numbers.proof);
            if numbers.disproof < least {
                (second, least, best) = (least, numbers.disproof, index);
            } else {
                second = second.min(numbers.disproof);
            }
        }
        let numbers = if count == 0 {
            Numbers::proven(longest.0.saturating_add(1), longest.1)
        } else {
            Numbers::open((largest + count - 1).min(INFINITE - 1), least)
        };
        Tally { numbers, best, second, count }
    }

    /// A child with its numbers: those of the path, of the table, or of a first look.
    fn known_child<G: Game>(
        &mut self,
        question: &Question<'_, G>,
        game: &G,
        index: usize,
        here: u64,
    ) -> Child {
        let mut child = self.children[index];
        if child.known {
            return child;
        }
        let mut next = game.clone();
        next.play(child.mv);
        child.key = identity(&next);
        child.known = true;
        child.numbers = match self.path.iter().position(|&key| key == child.key) {
            Some(depth) => Numbers::disproven(depth as u16 + 1, UNBOUNDED),
            None => {
                let left = self.left(question);
                let known = self.table.find(child.key, here as u32, left);
                within_depth(known.unwrap_or_else(|| self.judge(question, &next, child.key, here)), left)
            }
        };
        self.children[index] = child;
        child
    }

    /// Counts a position whose moves are listed.
    fn count<G>(&mut self, question: &Question<'_, G>) {
        self.positions += 1;
        if self.positions >= self.limit
            || (self.positions.is_multiple_of(CANCEL_PERIOD) && (question.cancel)())
        {
            self.halted = true;
        }
    }

    /// The numbers of a position that is met for the first time: known where the game is over, else by the
    /// number of moves.
    fn judge<G: Game>(&mut self, question: &Question<'_, G>, game: &G, key: u64, before: u64) -> Numbers {
        if self.halted {
            return Numbers::open(1, 1);
        }
        self.count(question);
        game.legal_moves(&mut self.moves);
        let is_attack = game.player() == question.attacker;
        let numbers = match game.ending(&self.moves) {
            Some(Ending::Win) if is_attack => Numbers::proven(0, MoveCode(0)),
            Some(Ending::Loss) if !is_attack => Numbers::proven(0, MoveCode(0)),
            Some(_) => Numbers::disproven(ON_ALL_PATHS, UNBOUNDED),
            None if self.is_drawn(question, game) => Numbers::disproven(ON_ALL_PATHS, UNBOUNDED),
            None if is_attack => {
                if question.attack == Attack::Checks {
                    game.retain_checks(&mut self.moves);
                }
                match self.moves.len() as u32 {
                    0 => Numbers::disproven(ON_ALL_PATHS, UNBOUNDED),
                    count => Numbers::open(1, count),
                }
            }
            None => Numbers::open(self.count_groups(game), 1),
        };
        self.table.store(key, before as u32, numbers, 1);
        numbers
    }

    /// Whether the game is drawn here by the move count, or by a repetition of the game before. The position
    /// of the question stands on the board already.
    fn is_drawn<G: Game>(&self, question: &Question<'_, G>, game: &G) -> bool {
        game.clock_limit().is_some_and(|limit| game.clock() >= limit)
            || (!self.path.is_empty() && (question.before)(game.key()) >= 2)
    }

    /// The moves of the defender, where a group counts once.
    fn count_groups<G: Game>(&self, game: &G) -> u32 {
        let (mut groups, mut count) = (0u64, 0);
        for &mv in &self.moves {
            match game.reply_group(mv) {
                Some(group) => groups |= 1 << group,
                None => count += 1,
            }
        }
        count + groups.count_ones()
    }
}

/// The numbers of a position with so many plies left: a win that takes longer is none on this path, and
/// where none are left nothing is open.
fn within_depth(numbers: Numbers, left: u16) -> Numbers {
    let is_long = numbers.is_proven() && numbers.plies > left;
    let is_cut = left == 0 && !numbers.is_proven() && !numbers.is_disproven();
    if is_long || is_cut { Numbers::disproven(ON_ALL_PATHS, left) } else { numbers }
}
