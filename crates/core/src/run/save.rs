//! A search graph in a file: written beside and renamed, read back only when every part of it is sound.
//!
//! The file is a header in words (variant, position, settings), the nodes in order of discovery from the
//! root, and a checksum. On reading, the checksum, every index and every move are verified with the rules
//! before anything is used.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path as FilePath;

use thiserror::Error;

use crate::game::{Game, MoveCode};
use crate::graph::prior::Candidate;
use crate::graph::{Edge, Graph, NONE, NodeId, ProofNumbers, State, edge_flag, node_flag};
use crate::random::Random;
use crate::search::Search;

const MAGIC: &[u8; 8] = b"ANABRCH\x01";

/// Why a file of a graph was refused.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The file cannot be read or written.
    #[error("the graph file cannot be {act}: {source}")]
    System {
        /// What was tried.
        act: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not one of ours, or damaged.
    #[error("the graph file is damaged or not a graph file: {0}")]
    Damaged(&'static str),
    /// The game has the name of that of the file, and other rules.
    #[error("the graph of the file is one of a game of this name with other rules, perhaps of another size")]
    OtherRules,
    /// The file is sound but larger than the memory cap.
    #[error("the graph of the file does not fit into the memory cap of {0} bytes")]
    TooLarge(usize),
}

/// The words at the head of a file.
pub type Header = Vec<(String, String)>;

/// Writes a graph with its header.
pub fn save<G: Game>(search: &Search<G>, header: &Header, file: &FilePath) -> Result<(), SaveError> {
    let bytes = encode(search, header);
    let mut beside = file.as_os_str().to_owned();
    beside.push(".partial");
    let beside = std::path::PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let mut out = fs::File::create(&beside)?;
        out.write_all(&bytes)?;
        out.sync_all()?;
        fs::rename(&beside, file)
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&beside);
        SaveError::System { act: "written", source }
    })
}

/// Reads a file whole and verifies its checksum; returns the header and the rest.
pub fn open(file: &FilePath) -> Result<(Header, Vec<u8>), SaveError> {
    let mut bytes = Vec::new();
    fs::File::open(file)
        .and_then(|mut input| input.read_to_end(&mut bytes))
        .map_err(|source| SaveError::System { act: "read", source })?;
    if bytes.len() < MAGIC.len() + 8 || &bytes[..MAGIC.len()] != MAGIC {
        return Err(SaveError::Damaged("it does not begin like one"));
    }
    let body = bytes.len() - 4;
    let checksum = u32::from_le_bytes([bytes[body], bytes[body + 1], bytes[body + 2], bytes[body + 3]]);
    if crc32fast::hash(&bytes[..body]) != checksum {
        return Err(SaveError::Damaged("its checksum does not match"));
    }
    let mut reader = ByteReader { bytes: &bytes[MAGIC.len()..body] };
    let length = reader.u32()? as usize;
    let text = std::str::from_utf8(reader.take(length)?)
        .map_err(|_| SaveError::Damaged("its header is not text"))?;
    let header = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Ok((header, reader.bytes.to_vec()))
}

fn encode<G: Game>(search: &Search<G>, header: &Header) -> Vec<u8> {
    let graph = search.graph();
    let mut order = vec![search.root()];
    let mut numbers: HashMap<NodeId, u32> = HashMap::from([(search.root(), 0)]);
    let mut next = 0;
    while next < order.len() {
        for edge in graph.edges(order[next]) {
            if edge.child != NONE && !numbers.contains_key(&edge.child) {
                numbers.insert(edge.child, order.len() as u32);
                order.push(edge.child);
            }
        }
        next += 1;
    }
    let mut out = MAGIC.to_vec();
    let text: String = header.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
    out.extend(search.random.state.to_le_bytes());
    out.extend((order.len() as u32).to_le_bytes());
    for &id in &order {
        let node = graph.node(id);
        out.extend(node.key.to_le_bytes());
        out.extend(node.salt.to_le_bytes());
        out.extend(node.visits.to_le_bytes());
        out.extend(node.value.to_le_bytes());
        out.extend(node.raw.to_le_bytes());
        let remaining = graph.candidates(id);
        let flags = node.flags & !node_flag::WAITING;
        for number in [node.legal, node.unknown, node.end_in_ply, flags, node.opened, remaining.len() as u16]
        {
            out.extend(number.to_le_bytes());
        }
        out.push(node.state as u8);
        if graph.has_numbers() {
            let numbers = graph.numbers(id);
            out.extend(numbers.win.to_le_bytes());
            out.extend(numbers.loss.to_le_bytes());
        }
        for edge in graph.edges(id) {
            out.extend(edge.q.to_le_bytes());
            let child = if edge.child == NONE { NONE } else { numbers[&edge.child] };
            for number in [child, edge.visits, edge.draws, edge.explored] {
                out.extend(number.to_le_bytes());
            }
            for number in [edge.half, edge.mv.0, edge.flags] {
                out.extend(number.to_le_bytes());
            }
        }
        for candidate in remaining {
            out.extend(candidate.half().to_le_bytes());
            out.extend(candidate.mv().0.to_le_bytes());
        }
    }
    out.extend(crc32fast::hash(&out).to_le_bytes());
    out
}

struct ByteReader<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], SaveError> {
        if count > self.bytes.len() {
            return Err(SaveError::Damaged("it ends too early"));
        }
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SaveError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u16(&mut self) -> Result<u16, SaveError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, SaveError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, SaveError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn value(&mut self) -> Result<f64, SaveError> {
        let value = f64::from_le_bytes(self.array()?);
        if value.is_finite() && value.abs() <= 1.0 + 1e-6 {
            Ok(value)
        } else {
            Err(SaveError::Damaged("a value is out of range"))
        }
    }
}

/// Puts the nodes of a file, as [`open`] returned them, into a search at the position of
/// the file.
pub fn restore<G: Game>(search: &mut Search<G>, bytes: &[u8]) -> Result<(), SaveError> {
    let mut reader = ByteReader { bytes };
    let random = Random { state: reader.u64()? };
    let count = reader.u32()?;
    let memory = search.graph.memory();
    let uses_table = search.settings.backup != crate::settings::Backup::Tree;
    let mut graph = Graph::new(memory);
    graph.set_numbers(search.graph.has_numbers());
    let mut children: Vec<(NodeId, u16, u32)> = Vec::new();
    for number in 0..count {
        if !graph.ensure_room(1, crate::graph::MOST_MOVES, uses_table) {
            return Err(SaveError::TooLarge(memory));
        }
        read_node(&mut reader, &mut graph, number, &mut children)?;
    }
    if !reader.bytes.is_empty() || count == 0 {
        return Err(SaveError::Damaged("it does not end where it should"));
    }
    for (parent, slot, child) in children {
        if child >= count || !graph.ensure_room(1, 0, uses_table) {
            return Err(SaveError::Damaged("an edge leads nowhere"));
        }
        graph.link(parent, slot, child);
    }
    verify(&graph, search.position())?;
    if uses_table {
        for id in 0..count {
            if !graph.ensure_room(1, 0, true) {
                return Err(SaveError::TooLarge(memory));
            }
            graph.enter(id);
        }
    }
    graph.set_draws(search.graph.draws());
    search.graph = graph;
    search.root = 0;
    search.random = random;
    search.improved = None;
    Ok(())
}

fn read_node(
    reader: &mut ByteReader<'_>,
    graph: &mut Graph,
    number: u32,
    children: &mut Vec<(NodeId, u16, u32)>,
) -> Result<(), SaveError> {
    let (key, salt, visits, value) = (reader.u64()?, reader.u32()?, reader.u32()?, reader.value()?);
    let raw = f32::from_le_bytes(reader.array()?);
    let (legal, unknown, end_in_ply, flags) = (reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?);
    let (opened, listed) = (reader.u16()?, reader.u16()?);
    let [state] = reader.array()?;
    graph.note_visits(visits);
    let (mut counted, mut sum) = (0, 0);
    let too_many = usize::from(legal) > crate::graph::MOST_MOVES
        || usize::from(opened) + usize::from(listed) > usize::from(legal);
    let known_flags = (node_flag::FREE - 1) & !node_flag::WAITING | node_flag::MATE;
    let bad_flags = flags & !known_flags != 0 || (flags & node_flag::EVALUATED != 0 && visits == 0);
    if too_many
        || unknown > legal
        || !raw.is_finite()
        || raw.abs() > 1.0
        || bad_flags
        || usize::from(state) >= State::ALL.len()
    {
        return Err(SaveError::Damaged("a node is out of range"));
    }
    let id = graph.add_node(key, salt, u8::from(flags & node_flag::PLAYER != 0), legal.into());
    debug_assert_eq!(id, number);
    if graph.has_numbers() {
        graph.put_numbers(id, ProofNumbers { win: reader.u16()?, loss: reader.u16()? });
    }
    for _ in 0..opened {
        let q = reader.value()?;
        let (child, edge_visits, draws, explored) =
            (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
        let (half, mv, flags) = (reader.u16()?, MoveCode(reader.u16()?), reader.u16()?);
        if half > 0x3C00 || u64::from(draws) + u64::from(explored) > u64::from(edge_visits) || flags > 15 {
            return Err(SaveError::Damaged("an edge is out of range"));
        }
        counted += u16::from(flags & edge_flag::COUNTED != 0);
        sum += u64::from(edge_visits);
        let slot = graph.push_edge(
            id,
            Edge { q, child: NONE, visits: edge_visits, draws, explored, half, mv, in_flight: 0, flags },
        );
        if child != NONE {
            children.push((id, slot, child));
        }
    }
    // Counters that disagree would run below zero or past their end later.
    if sum > u64::from(visits) || u32::from(unknown) + u32::from(counted) != u32::from(legal) {
        return Err(SaveError::Damaged("the counters of a node disagree"));
    }
    let mut list = Vec::with_capacity(listed.into());
    for _ in 0..listed {
        let half = reader.u16()?;
        if half > 0x3C00 {
            return Err(SaveError::Damaged("a prior is out of range"));
        }
        list.push(Candidate::new(half, MoveCode(reader.u16()?)));
    }
    graph.list_candidates(id, &list);
    let node = graph.node_mut(id);
    (node.visits, node.value, node.raw) = (visits, value, raw);
    (node.unknown, node.end_in_ply, node.flags, node.state) =
        (unknown, end_in_ply, flags, State::ALL[usize::from(state)]);
    Ok(())
}

/// Positions that are asked for at once.
const MOST_MISSING: usize = 4096;

/// Walks the graph with the rules: every node is the position its path leads to, every move is legal there.
fn verify<G: Game>(graph: &Graph, root: &G) -> Result<(), SaveError> {
    let mut seen = vec![false; graph.id_bound() as usize];
    let mut pending = vec![(0, root.clone())];
    let mut moves = Vec::new();
    let mut named = Vec::new();
    seen[0] = true;
    let mut missing = Vec::new();
    loop {
        // Positions that are made many at a time are asked for first.
        if missing.len() >= MOST_MISSING || pending.is_empty() {
            root.fetch();
            for (id, mut game, mv) in missing.drain(..) {
                if !G::try_play(&mut game, mv) {
                    game.play(mv);
                }
                pending.push((id, game));
            }
        }
        let Some((id, game)) = pending.pop() else { break };
        let node = graph.node(id);
        game.legal_moves(&mut moves);
        let over = game.ending(&moves).is_some();
        let legal = if over { 0 } else { moves.len() };
        if node.key != game.key()
            || node.player() != game.player()
            || usize::from(node.legal) != legal
            || over != node.has(node_flag::TERMINAL)
        {
            return Err(SaveError::Damaged("a node does not belong to its position"));
        }
        named.clear();
        named.extend(graph.edges(id).iter().map(|edge| edge.mv));
        named.extend(graph.candidates(id).iter().map(|candidate| candidate.mv()));
        named.sort_unstable();
        if named.windows(2).any(|pair| pair[0] == pair[1])
            || named.iter().any(|mv| moves.binary_search(mv).is_err())
        {
            return Err(SaveError::Damaged("a move is not legal in its position"));
        }
        for edge in graph.edges(id) {
            if edge.child != NONE && !seen[edge.child as usize] {
                seen[edge.child as usize] = true;
                let mut next = game.clone();
                if next.try_play(edge.mv) {
                    pending.push((edge.child, next));
                } else {
                    missing.push((edge.child, next, edge.mv));
                }
            }
        }
    }
    if seen.iter().all(|&reached| reached) {
        Ok(())
    } else {
        Err(SaveError::Damaged("a node is out of reach"))
    }
}
