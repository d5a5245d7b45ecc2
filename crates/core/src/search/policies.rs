//! Lists of candidates that other threads have made before they are needed.
//!
//! A leaf gets its list at its second visit, if the evaluator can give its value alone. With one thread the
//! policy is computed then, and not at all for the many leaves without a second visit. The thread of the
//! search would have to do that too while the others have little to do; so those compute policies with the
//! values, and their lists wait here. What is missing here is computed: the graph does not depend on it.

use crate::graph::prior::{Candidate, HEAD};

/// Lists that there is room for at first, and at most: 30 MB, or a share of the memory of the graph.
const FIRST_SLOTS: usize = 1 << 12;
const MOST_SLOTS: usize = 1 << 18;
/// The graph's memory for each byte of the lists.
const SHARE: usize = 16;
/// Most candidates of a first list.
const MOST: usize = HEAD + HEAD / 2;

#[derive(Clone, Debug, Default)]
struct Slot {
    key: u64,
    /// The search that it belongs to; 0 is none.
    search: u32,
    count: u32,
    list: [Candidate; MOST],
}

/// The lists, by the keys of positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Policies {
    slots: Vec<Slot>,
    /// Lists that came since the room was last enlarged.
    count: usize,
    most: usize,
    search: u32,
}

impl Policies {
    /// Forgets everything, because another search begins, whose graph may take so many bytes.
    pub fn begin(&mut self, memory: usize) {
        let room = (memory / SHARE / size_of::<Slot>()).clamp(1, MOST_SLOTS);
        self.most = 1 << room.ilog2();
        self.count = 0;
        self.search = self.search.wrapping_add(1).max(1);
        if self.search == 1 || self.slots.len() > self.most {
            self.slots = Vec::new();
        }
    }

    /// Keeps a list for the second visit of a position.
    pub fn put(&mut self, key: u64, list: &[Candidate]) {
        self.count += 1;
        if 2 * self.count > self.slots.len() && self.slots.len() < self.most {
            self.grow();
        }
        let place = key as usize % self.slots.len();
        let slot = &mut self.slots[place];
        if let Some(room) = slot.list.get_mut(..list.len()) {
            room.copy_from_slice(list);
            (slot.key, slot.search, slot.count) = (key, self.search, list.len() as u32);
        }
    }

    /// The list of a position, if it is here.
    pub fn get(&self, key: u64) -> Option<&[Candidate]> {
        let slot = self.slots.get(key as usize % self.slots.len().max(1))?;
        (slot.key == key && slot.search == self.search).then(|| &slot.list[..slot.count as usize])
    }

    /// Makes room for four times as many lists.
    #[cold]
    fn grow(&mut self) {
        let room = (4 * self.slots.len()).max(FIRST_SLOTS).min(self.most);
        let earlier = std::mem::replace(&mut self.slots, vec![Slot::default(); room]);
        for slot in earlier.into_iter().filter(|slot| slot.search == self.search) {
            let place = slot.key as usize % room;
            self.slots[place] = slot;
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;

    #[test]
    fn lists_are_found_until_another_search_or_another_position_takes_their_place() {
        let list = |count: u16| (0..count).map(|mv| Candidate::new(9, MoveCode(mv))).collect::<Vec<_>>();
        let mut policies = Policies::default();
        policies.begin(1 << 30);
        assert_eq!(policies.get(5), None);
        policies.put(5, &list(16));
        policies.put(6, &list(MOST as u16));
        assert_eq!(policies.get(5), Some(&*list(16)));
        assert_eq!(policies.get(6), Some(&*list(MOST as u16)));
        assert_eq!(policies.get(5 + FIRST_SLOTS as u64), None);
        policies.put(5 + FIRST_SLOTS as u64, &list(3));
        assert_eq!((policies.get(5), policies.get(5 + FIRST_SLOTS as u64)), (None, Some(&*list(3))));
        policies.put(7, &list(MOST as u16 + 1));
        assert_eq!(policies.get(7), None);
        policies.begin(1 << 30);
        assert_eq!(policies.get(6), None);
    }

    #[test]
    fn little_memory_bounds_the_room() {
        let mut policies = Policies::default();
        for (memory, most) in [(1 << 20, 512), (1 << 40, MOST_SLOTS), (1 << 20, 512)] {
            policies.begin(memory);
            for key in 0..200_000 {
                policies.put(key, &[Candidate::new(1, MoveCode(1))]);
            }
            assert_eq!(policies.slots.len(), most);
            assert!(policies.slots.len() * size_of::<Slot>() <= memory / SHARE);
        }
    }

    #[test]
    fn the_room_grows_and_keeps_what_is_there() {
        let mut policies = Policies::default();
        policies.begin(1 << 30);
        for key in 0..3000 {
            policies.put(key, &[Candidate::new(key as u16, MoveCode(1))]);
        }
        assert!(policies.slots.len() > FIRST_SLOTS);
        for key in 0..3000 {
            assert_eq!(policies.get(key), Some(&[Candidate::new(key as u16, MoveCode(1))][..]));
        }
    }
}
