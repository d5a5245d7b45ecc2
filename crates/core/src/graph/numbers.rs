//! Proof numbers of the nodes, in an arena of their own: a graph without them pays nothing.
//!
//! Only stored here; what they mean and how they follow from the children is a rule of the search.

use super::{Graph, Node, NodeId, State};

/// How far a node is from a proof, for either player; see `search/numbers.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofNumbers {
    /// For a win of the side to move.
    pub win: u16,
    /// For its loss: a win of the other side.
    pub loss: u16,
}

impl ProofNumbers {
    /// The number of what cannot be proven any more.
    pub const INFINITE: u16 = u16::MAX;

    /// A node without an open move: one move may win, all have to lose.
    pub const fn of_new(legal: u16) -> ProofNumbers {
        ProofNumbers { win: 1, loss: legal }
    }

    /// The numbers of a result; `None` where none is proven.
    pub const fn of_state(state: State) -> Option<ProofNumbers> {
        const INFINITE: u16 = ProofNumbers::INFINITE;
        match state {
            State::Unknown => None,
            State::Win | State::TbWin => Some(ProofNumbers { win: 0, loss: INFINITE }),
            State::Draw | State::TbDraw => Some(ProofNumbers { win: INFINITE, loss: INFINITE }),
            State::Loss | State::TbLoss => Some(ProofNumbers { win: INFINITE, loss: 0 }),
        }
    }

    /// The same seen by the other player.
    pub const fn reversed(self) -> ProofNumbers {
        ProofNumbers { win: self.loss, loss: self.win }
    }
}

impl Graph {
    /// Whether nodes have proof numbers.
    pub fn has_numbers(&self) -> bool {
        self.numbers.is_some()
    }

    /// Gives the nodes proof numbers, or none. Where that is a change, the graph is emptied.
    pub fn set_numbers(&mut self, wanted: bool) {
        if wanted != self.has_numbers() {
            let numbers = wanted.then(Vec::new);
            *self =
                Graph { draws: self.draws, most_items: self.most_items, numbers, ..Graph::new(self.memory) };
        }
    }

    /// The proof numbers of a node: those of its result, else as they were last set. The graph must have
    /// numbers.
    #[inline]
    pub fn numbers(&self, id: NodeId) -> ProofNumbers {
        let node = &self.nodes[id as usize];
        match (ProofNumbers::of_state(node.state), &self.numbers) {
            (Some(numbers), _) => numbers,
            (None, Some(stored)) => stored[id as usize],
            (None, None) => ProofNumbers::of_new(node.legal),
        }
    }

    /// Sets the proof numbers of a node, if the graph has them.
    #[inline]
    pub fn put_numbers(&mut self, id: NodeId, numbers: ProofNumbers) {
        let Some(stored) = &mut self.numbers else { return };
        match stored.get_mut(id as usize) {
            Some(place) => *place = numbers,
            // Nodes are added one by one.
            None => stored.push(numbers),
        }
    }

    /// Bytes of a node and its proof numbers.
    pub(super) fn node_bytes(&self) -> usize {
        size_of::<Node>() + if self.has_numbers() { size_of::<ProofNumbers>() } else { 0 }
    }

    /// Lets the proof numbers grow with the nodes.
    pub(super) fn reserve_numbers(&mut self) {
        let capacity = self.nodes.capacity();
        if let Some(stored) = &mut self.numbers {
            stored.reserve_exact(capacity - stored.len());
        }
    }

    /// Bytes taken for proof numbers.
    pub(super) fn reserved_for_numbers(&self) -> usize {
        self.numbers.as_ref().map_or(0, Vec::capacity) * size_of::<ProofNumbers>()
    }
}
