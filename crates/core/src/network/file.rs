//! A network file: safetensors with the metadata of `docs/networks.md`, taken apart and checked without
//! trusting a byte of it.
//!
//! Nothing is allocated by what a file claims, only by what it holds. What is left to check afterwards, the
//! canaries, needs the arithmetic.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::patterns::Patterns;
use super::plays::{Plays, Sizes};
use crate::game::Game;

/// Value heads.
pub(super) const BUCKETS: usize = 8;
/// Units of the first hidden layer of the value.
pub(super) const HIDDEN1: usize = 16;
/// Units of the second.
pub(super) const HIDDEN2: usize = 32;
/// Largest file that is read: twice what the widest network needs.
pub(super) const LARGEST_FILE: usize = 100 << 20;
const LARGEST_HEADER: usize = 8 << 20;
const LARGEST_WIDTH: usize = 4096;
const LARGEST_BIAS: i16 = 16_384;
/// Numbers beyond this are no weights, and could overflow.
const LARGEST_NUMBER: f32 = 1e9;

/// Metadata that has one right value.
const FIXED: [(&str, &str); 4] =
    [("format", "anabranch-sparse"), ("version", "1"), ("value", "wdl"), ("architecture", "sparse")];
/// The cells of the patterns, in networks for games on a grid.
const PATTERNS: &str = "inputs.patterns";
/// Metadata that has to be there.
const NEEDED: [&str; 5] = ["variant", "step", "licence", "sha256", "canaries"];

/// Name, type and shape of every tensor of a network with accumulators of these widths, but the patterns.
fn contract(sizes: Sizes, policy: usize, value: usize) -> [(&'static str, &'static str, Vec<usize>); 14] {
    let Sizes { features, contexts, moves } = sizes;
    [
        ("policy.contexts.bias", "F32", vec![contexts]),
        ("policy.contexts.weight", "I8", vec![contexts, policy / 2]),
        ("policy.inputs.bias", "I16", vec![policy]),
        ("policy.inputs.weight", "I8", vec![features, policy]),
        ("policy.moves.bias", "F32", vec![moves]),
        ("policy.moves.weight", "I8", vec![moves, policy / 2]),
        ("value.hidden1.bias", "F32", vec![BUCKETS, HIDDEN1]),
        ("value.hidden1.weight", "I8", vec![BUCKETS, HIDDEN1, value / 2]),
        ("value.hidden2.bias", "F32", vec![BUCKETS, HIDDEN2]),
        ("value.hidden2.weight", "F32", vec![BUCKETS, HIDDEN2, HIDDEN1]),
        ("value.inputs.bias", "I16", vec![value]),
        ("value.inputs.weight", "I8", vec![features, value]),
        ("value.output.bias", "F32", vec![BUCKETS, 3]),
        ("value.output.weight", "F32", vec![BUCKETS, 3, HIDDEN2]),
    ]
}

/// A tensor as it lies in the file.
struct Tensor<'a> {
    kind: String,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

/// A file whose tensors fit the contract.
pub(super) struct Tensors<'a> {
    /// The texts of the header.
    pub metadata: BTreeMap<String, String>,
    /// What it plays.
    pub plays: Plays,
    /// The patterns, for games on a grid.
    pub patterns: Option<Patterns>,
    tensors: BTreeMap<String, Tensor<'a>>,
}

type Refusal = String;

fn refuse<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(text.into())
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Parts header and data.
fn split(bytes: &[u8]) -> Result<(Map<String, Value>, &[u8]), Refusal> {
    if bytes.is_empty() {
        return refuse("it is empty");
    }
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return refuse("it is too short for a header");
    };
    let length = u64::from_le_bytes(*length);
    let Ok(length) = usize::try_from(length) else { return refuse("its header is too long") };
    if length > LARGEST_HEADER {
        return refuse(format!("its header claims {length} bytes, and at most {LARGEST_HEADER} are read"));
    }
    if length > rest.len() {
        return refuse("it is truncated in the header");
    }
    let (header, data) = rest.split_at(length);
    match serde_json::from_slice(header) {
        Ok(Value::Object(map)) => Ok((map, data)),
        Ok(_) => refuse("its header is no JSON object"),
        Err(error) => refuse(format!("its header is no JSON: {error}")),
    }
}

fn whole(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

fn read_tensor<'a>(name: &str, entry: &Value, data: &'a [u8]) -> Result<(usize, Tensor<'a>), Refusal> {
    let wrong = || format!("its header has a damaged entry for the tensor {:?}", clip(name));
    let kind = entry.get("dtype").and_then(Value::as_str).ok_or_else(wrong)?;
    let shape: Option<Vec<usize>> =
        entry.get("shape").and_then(Value::as_array).and_then(|list| list.iter().map(whole).collect());
    let shape = shape.ok_or_else(wrong)?;
    let offsets = entry.get("data_offsets").and_then(Value::as_array).ok_or_else(wrong)?;
    let [begin, end] = offsets.as_slice() else { return Err(wrong()) };
    let (Some(begin), Some(end)) = (whole(begin), whole(end)) else { return Err(wrong()) };
    let Some(bytes) = data.get(begin..end) else {
        return refuse(format!("it is truncated: the tensor {:?} ends after the file", clip(name)));
    };
    let size = match kind {
        "I8" => 1,
        "I16" => 2,
        "F32" => 4,
        _ => return refuse(format!("the tensor {:?} has the type {:?}", clip(name), clip(kind))),
    };
    let count = shape.iter().try_fold(size, |product: usize, &length| product.checked_mul(length));
    if count != Some(bytes.len()) {
        return refuse(format!(
            "the tensor {:?} has {} bytes, which do not fit its shape",
            clip(name),
            bytes.len()
        ));
    }
    Ok((begin, Tensor { kind: kind.to_owned(), shape, bytes }))
}

fn read_metadata(map: &mut Map<String, Value>) -> Result<(BTreeMap<String, String>, Plays), Refusal> {
    let Some(Value::Object(texts)) = map.remove("__metadata__") else { return refuse("it has no metadata") };
    let mut metadata = BTreeMap::new();
    for (name, value) in texts {
        let Value::String(text) = value else {
            return refuse(format!("its metadata {:?} is no text", clip(&name)));
        };
        metadata.insert(name, text);
    }
    for (name, right) in FIXED {
        require(&metadata, name, right)?;
    }
    for name in NEEDED {
        if !metadata.contains_key(name) {
            return refuse(format!("its metadata has no {name:?}"));
        }
    }
    let Some(plays) = Plays::parse(&metadata["variant"]) else {
        return refuse(format!(
            "its variant is {:?}, and networks play chess, crazyhouse or a game on a grid",
            clip(&metadata["variant"])
        ));
    };
    for (name, right) in plays.versions() {
        require(&metadata, name, right)?;
    }
    Ok((metadata, plays))
}

/// Refuses metadata that differ from their only right value.
fn require(metadata: &BTreeMap<String, String>, name: &str, right: &str) -> Result<(), Refusal> {
    match metadata.get(name) {
        None => refuse(format!("its metadata has no {name:?}")),
        Some(text) if text != right => refuse(format!("its {name} is {:?} instead of {right:?}", clip(text))),
        Some(_) => Ok(()),
    }
}

impl<'a> Tensors<'a> {
    /// Takes a file apart; what it is refused for is a part of a sentence.
    pub fn read(bytes: &'a [u8]) -> Result<Tensors<'a>, Refusal> {
        Tensors::read_parts(bytes).map_err(|reason| {
            if bytes.starts_with(b"PK")
                || (bytes.first() == Some(&0x80) && bytes.get(1).is_some_and(|&version| version < 8))
            {
                "it looks like a pickle, which could hold anything and is never opened".to_owned()
            } else {
                reason
            }
        })
    }

    fn read_parts(bytes: &'a [u8]) -> Result<Tensors<'a>, Refusal> {
        let (mut map, data) = split(bytes)?;
        let (metadata, plays) = read_metadata(&mut map)?;
        let mut tensors = BTreeMap::new();
        let mut places = Vec::new();
        let known = contract(plays.sizes(None), 0, 0).map(|(name, ..)| name);
        let has_patterns = matches!(plays, Plays::Grid(_));
        for (name, entry) in &map {
            let is_known = known.contains(&name.as_str()) || (has_patterns && name == PATTERNS);
            if !is_known {
                return refuse(format!("it has a tensor {:?}, which networks do not have", clip(name)));
            }
            let (begin, tensor) = read_tensor(name, entry, data)?;
            places.push((begin, begin + tensor.bytes.len()));
            tensors.insert(name.clone(), tensor);
        }
        places.sort_unstable();
        let mut end = 0;
        for (begin, next) in places {
            if begin != end {
                return refuse("its tensors overlap or leave holes");
            }
            end = next;
        }
        if end != data.len() {
            return refuse(format!("it has {} bytes after the last tensor", data.len() - end));
        }
        let mut tensors = Tensors { metadata, plays, patterns: None, tensors };
        tensors.read_patterns()?;
        tensors.check_shapes()?;
        tensors.check_hash()?;
        tensors.check_numbers()?;
        Ok(tensors)
    }

    /// Reads the patterns of a network for a game on a grid.
    fn read_patterns(&mut self) -> Result<(), Refusal> {
        let Plays::Grid(named) = &self.plays else { return Ok(()) };
        let falls = match self.metadata.get("cells").map(String::as_str) {
            Some("plain") => false,
            Some("falling") => true,
            _ => return refuse("its metadata \"cells\" is neither \"plain\" nor \"falling\""),
        };
        let Some(Tensor { kind, shape, .. }) = self.tensors.get(PATTERNS) else {
            return refuse(format!("it has no tensor {PATTERNS:?}"));
        };
        let (&[_, length], "I16") = (shape.as_slice(), kind.as_str()) else {
            return refuse(format!("the tensor {PATTERNS:?} is not a table of I16"));
        };
        let planes = named.start().plane_shape();
        self.patterns = Some(Patterns::read(self.words(PATTERNS), length, falls, planes)?);
        Ok(())
    }

    /// Rows of its tables.
    pub fn sizes(&self) -> Sizes {
        self.plays.sizes(self.patterns.as_ref())
    }

    fn check_shapes(&self) -> Result<(), Refusal> {
        let contract = contract(self.sizes(), self.policy_width(), self.value_width());
        if let Some((name, ..)) = contract.iter().find(|(name, ..)| !self.tensors.contains_key(*name)) {
            return refuse(format!("it has no tensor {name:?}"));
        }
        for (name, width) in [("P", self.policy_width()), ("V", self.value_width())] {
            if width == 0 || width % 32 != 0 || width > LARGEST_WIDTH {
                return refuse(format!(
                    "its width {name} is {width}, and widths are multiples of 32 up to {LARGEST_WIDTH}"
                ));
            }
        }
        for (name, kind, shape) in contract {
            let tensor = &self.tensors[name];
            if tensor.kind != kind {
                return refuse(format!("the tensor {name:?} has the type {} instead of {kind}", tensor.kind));
            }
            if tensor.shape != shape {
                return refuse(format!(
                    "the tensor {name:?} has the shape {:?} instead of {shape:?}",
                    tensor.shape
                ));
            }
        }
        Ok(())
    }

    fn check_hash(&self) -> Result<(), Refusal> {
        if self.sha256() != self.metadata["sha256"] {
            return refuse("its weights are not those that were written: the SHA-256 does not match");
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), Refusal> {
        for (name, tensor) in &self.tensors {
            let fine = match tensor.kind.as_str() {
                "F32" => self.floats(name).all(|number| number.is_finite() && number.abs() <= LARGEST_NUMBER),
                "I16" => self.words(name).all(|number| (-LARGEST_BIAS..=LARGEST_BIAS).contains(&number)),
                _ => true,
            };
            if !fine {
                return refuse(format!(
                    "the tensor {name:?} has numbers that are out of range or no numbers"
                ));
            }
        }
        Ok(())
    }

    fn last_of(&self, name: &str) -> usize {
        self.tensors.get(name).and_then(|tensor| tensor.shape.last().copied()).unwrap_or(0)
    }

    /// P.
    pub fn policy_width(&self) -> usize {
        self.last_of("policy.inputs.bias")
    }

    /// V.
    pub fn value_width(&self) -> usize {
        self.last_of("value.inputs.bias")
    }

    /// The bytes of a tensor.
    pub fn bytes(&self, name: &str) -> &'a [u8] {
        self.tensors.get(name).map_or(&[], |tensor| tensor.bytes)
    }

    /// The numbers of a tensor of I16.
    pub fn words(&self, name: &str) -> impl Iterator<Item = i16> + use<'a> {
        self.bytes(name).as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes))
    }

    /// The numbers of a tensor of F32.
    pub fn floats(&self, name: &str) -> impl Iterator<Item = f32> + use<'a> {
        self.bytes(name).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// The hash of names, types, shapes and bytes, in hexadecimal.
    fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for (name, tensor) in &self.tensors {
            let shape: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
            for text in [name.as_str(), &tensor.kind, &shape.join(",")] {
                hash.update(text.as_bytes());
                hash.update([0]);
            }
            hash.update(tensor.bytes);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
