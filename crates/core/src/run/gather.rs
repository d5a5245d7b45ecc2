//! Many searches at once with an evaluator outside the core: their leaves share batches.
//!
//! Each search collects and applies in the order of its own loop, so it makes the graph that it would make
//! alone. Any number of shared batches may be in flight; answers come back in the order of collection. Older
//! searches go first. A new one begins whenever a batch has room left. Each has an order of its own, can be
//! reported on while it is under way, and can be cancelled; then it ends with what it has found. Searches
//! that a stop ended have no outcome.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::any::{AnySession, with_session};
use super::drive::Finish;
use super::errors::SessionError;
use super::external::LeafText;
use super::job::{Found, Job, Order, Outcome, conclude, open_beside_others, report_on};
use crate::report::Meters;

/// A search under way.
struct Member {
    number: u64,
    session: AnySession,
    lines: usize,
    begun: Instant,
    /// Its batches that are collected and not yet applied.
    flying: usize,
    must_apply: bool,
    finish: Option<Finish>,
    /// Answers that came before it was time to apply them.
    answers: VecDeque<(Vec<f32>, Vec<f32>)>,
}

/// The leaves of one search in a shared batch.
struct Part {
    number: u64,
    size: usize,
}

/// Where the leaves of a batch go.
pub enum Leaves<'a> {
    /// Planes of a layout by its name (the usual one without a name), one row for each leaf.
    Planes(&'a mut [f32], Option<&'a str>),
    /// Texts, at most so many.
    Texts(&'a mut Vec<LeafText>, usize),
}

impl Leaves<'_> {
    /// Leaves that can still be added, each with so many numbers.
    fn room(&self, used: usize, stride: usize) -> usize {
        match self {
            Leaves::Planes(planes, _) => planes.len() / stride - used,
            Leaves::Texts(_, most) => most.saturating_sub(used),
        }
    }
}

/// Searches whose leaves share batches.
pub struct Gather {
    pattern: AnySession,
    /// Sessions without a search.
    spare: Vec<AnySession>,
    batch_size: usize,
    stop: Arc<AtomicBool>,
    /// The oldest first.
    members: Vec<Member>,
    waiting: VecDeque<(Job, Order)>,
    flights: VecDeque<Vec<Part>>,
    done: Vec<Outcome>,
    most: usize,
    /// Size of the policy.
    width: usize,
}

impl Gather {
    /// Room for `most` searches at once like those of `pattern`. `stop` ends them all.
    pub fn new(pattern: &AnySession, most: usize, stop: &Arc<AtomicBool>) -> Result<Gather, SessionError> {
        let pattern = open_beside_others(pattern)?;
        Ok(Gather {
            batch_size: with_session!(&pattern, session => session.settings().batch_size) as usize,
            pattern,
            spare: Vec::new(),
            stop: Arc::clone(stop),
            members: Vec::new(),
            waiting: VecDeque::new(),
            flights: VecDeque::new(),
            done: Vec::new(),
            most,
            width: 0,
        })
    }

    /// Takes a job, which begins when there is room for it. The numbers of jobs grow.
    pub fn add(&mut self, job: Job, order: Order) {
        self.waiting.push_back((job, order));
    }

    /// Ends a search under way, with what it has found as its outcome. A job that waits is forgotten without
    /// an outcome. Returns whether there is a search to end.
    pub fn cancel(&mut self, number: u64) -> bool {
        self.waiting.retain(|(job, _)| job.number != number);
        let Ok(place) = self.place_of(number) else { return false };
        let mut member = self.members.remove(place);
        with_session!(&mut member.session, session => session.abandon());
        member.finish = Some(Finish::Stopped);
        self.finish(member);
        true
    }

    /// What a search under way has found, counted and not measured; `None` if it is not under way.
    pub fn report(&self, number: u64) -> Option<Found> {
        let member = &self.members[self.place_of(number).ok()?];
        Some(report_on(&member.session, member.lines, Meters::Off, Finish::Stopped, member.begun.elapsed()))
    }

    fn place_of(&self, number: u64) -> Result<usize, usize> {
        self.members.binary_search_by_key(&number, |member| member.number)
    }

    /// Planes, rows and columns of a layout, and the size of the policy.
    pub fn shape(&self, layout: Option<&str>) -> Result<([usize; 3], usize), SessionError> {
        with_session!(&self.pattern, session => Ok(session.shape(session.planes(layout)?)))
    }

    /// Collects leaves until there is no room for the mini-batch of another search. Returns their number;
    /// zero when nothing can be collected before an answer comes, everything is done, or a stop has come.
    pub fn collect(&mut self, leaves: &mut Leaves<'_>) -> Result<usize, SessionError> {
        let mut parts = Vec::new();
        let mut used = 0;
        let mut place = 0;
        let layout = if let Leaves::Planes(_, layout) = leaves { *layout } else { None };
        let (shape, width) = self.shape(layout)?;
        self.width = width;
        let stride = shape.iter().product();
        loop {
            if place == self.members.len() && !self.admit(leaves, used, stride) {
                break;
            }
            if place == self.members.len() {
                continue;
            }
            let is_done = self.members[place].advance(&self.stop, leaves, stride, &mut used, &mut parts)?;
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            if is_done {
                let member = self.members.remove(place);
                self.finish(member);
            } else {
                place += 1;
            }
        }
        if used > 0 {
            self.flights.push_back(parts);
        }
        Ok(used)
    }

    /// Begins the next search if a batch has room for it. Returns whether there may be another member now.
    fn admit(&mut self, leaves: &Leaves<'_>, used: usize, stride: usize) -> bool {
        let room = leaves.room(used, stride);
        if self.members.len() >= self.most || room < self.batch_size {
            return false;
        }
        let Some((job, order)) = self.waiting.pop_front() else { return false };
        match self.begin(&job, &order) {
            Ok(member) => self.members.push(member),
            Err(error) => self.done.push((job.number, Err(error))),
        }
        true
    }

    fn begin(&mut self, job: &Job, order: &Order) -> Result<Member, SessionError> {
        let mut any = match self.spare.pop() {
            Some(any) => any,
            None => open_beside_others(&self.pattern)?,
        };
        with_session!(&mut any, session => {
            session.start_at(job.fen.as_deref(), &job.moves)?;
            session.begin(order.limits, &order.root_moves, &self.stop)?;
        });
        Ok(Member {
            number: job.number,
            session: any,
            lines: order.lines,
            begun: Instant::now(),
            flying: 0,
            must_apply: false,
            finish: None,
            answers: VecDeque::new(),
        })
    }

    fn finish(&mut self, mut member: Member) {
        let finish = member.finish.unwrap_or(Finish::Idle);
        with_session!(&mut member.session, session => {
            session.check_choice();
            if finish == Finish::Solved {
                session.conclude(&self.stop);
            }
        });
        let found = conclude(&member.session, member.lines, finish, member.begun.elapsed());
        self.done.push((member.number, Ok(found)));
        self.spare.push(member.session);
    }

    /// Takes the answer for the oldest batch in flight: one value per leaf, and the logits of all moves.
    pub fn apply(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError> {
        let width = self.width;
        let parts = self.flights.pop_front().ok_or(SessionError::State("no batch is in flight"))?;
        let size: usize = parts.iter().map(|part| part.size).sum();
        if values.len() != size || logits.len() != size * width {
            return Err(SessionError::Evaluation(format!(
                "the evaluator returned {} values and {} logits for a batch of {size} positions, \
                 which needs {size} and {size} x {width}",
                values.len(),
                logits.len()
            )));
        }
        let mut begin = 0;
        for Part { number, size } in parts {
            let end = begin + size;
            // A search that has ended by its time, or was cancelled, wants no more answers.
            if let Ok(place) = self.place_of(number) {
                self.members[place].answer(&values[begin..end], &logits[begin * width..end * width])?;
            }
            begin = end;
        }
        Ok(())
    }

    /// The outcomes that have come since the last call.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.done)
    }
}

impl Member {
    /// Applies and collects in the order of a search that runs alone, until an answer is missing or the batch
    /// has no room. Returns whether the search has ended.
    fn advance(
        &mut self,
        stop: &AtomicBool,
        leaves: &mut Leaves<'_>,
        stride: usize,
        used: &mut usize,
        parts: &mut Vec<Part>,
    ) -> Result<bool, SessionError> {
        loop {
            if self.awaits_answer() {
                let Some((values, logits)) = self.answers.pop_front() else { return Ok(false) };
                self.apply(&values, &logits)?;
            } else if self.finish.is_some() {
                return Ok(true);
            } else if let Some(finish) = with_session!(&self.session, session => session.finish(stop)) {
                self.finish = Some(finish);
                if matches!(finish, Finish::Stopped | Finish::Time) {
                    with_session!(&mut self.session, session => session.abandon());
                    return Ok(true);
                }
            } else if !self.collect(stop, leaves, stride, used, parts)? {
                return Ok(false);
            }
        }
    }

    fn awaits_answer(&self) -> bool {
        self.must_apply || (self.finish.is_some() && self.flying > 0)
    }

    /// Collects one mini-batch; false where a shared batch has no room for it.
    fn collect(
        &mut self,
        stop: &AtomicBool,
        leaves: &mut Leaves<'_>,
        stride: usize,
        used: &mut usize,
        parts: &mut Vec<Part>,
    ) -> Result<bool, SessionError> {
        with_session!(&mut self.session, session => {
            if leaves.room(*used, stride) < session.settings().batch_size as usize {
                return Ok(false);
            }
            let collected = match leaves {
                Leaves::Planes(planes, layout) => {
                    let layout = session.planes(*layout)?;
                    session.collect(stop, Some((&mut planes[*used * stride..], layout)))?
                }
                Leaves::Texts(texts, _) => {
                    let collected = session.collect(stop, None)?;
                    if collected.size > 0 {
                        texts.extend(session.newest_leaves());
                    }
                    collected
                }
            };
            self.must_apply = collected.must_apply;
            if collected.size > 0 {
                parts.push(Part { number: self.number, size: collected.size });
                *used += collected.size;
                self.flying += 1;
            }
        });
        Ok(true)
    }

    /// Takes the answer for the oldest mini-batch in flight, now or when its time has come.
    fn answer(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError> {
        if self.awaits_answer() && self.answers.is_empty() {
            return self.apply(values, logits);
        }
        self.answers.push_back((values.to_vec(), logits.to_vec()));
        Ok(())
    }

    fn apply(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError> {
        with_session!(&mut self.session, session => session.apply(values, logits))?;
        self.flying -= 1;
        self.must_apply = false;
        Ok(())
    }
}
