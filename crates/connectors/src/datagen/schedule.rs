//! The order in which rows come, and what a changelog does to them: computed from seed and row number alone.
//!
//! Rows are dealt to stripes by their number: row `r` belongs to stripe `r % stripes`. A stripe is a split; its
//! position is a few numbers, because rows that wait for their turn can be worked out again.

use super::draw::{Draw, stream};
use super::options::Ordering;
use crate::codes;
use base::connector::SplitState;
use base::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The version of the encoding of positions.
const VERSION: u8 = 1;
/// Rows that may wait for their turn.
pub(super) const WAITING_ROWS_MAX: u64 = 10_000_000;
/// How many rows after the last change of a row the next one follows, at most.
const CHANGE_DISTANCE: u64 = 1000;

/// One step of a stripe, ordered by when it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// When: nanoseconds of event time, or in a changelog a number of rows.
    pub key: u64,
    /// The row.
    pub row: u64,
    /// 0: inserted; then its updates; then, one behind the last update, its end.
    pub version: u32,
}

/// What is the same for all stripes of a run.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    order: Ordering,
    step_ns: u64,
    /// Rows in all; `None` without an end.
    rows: Option<u64>,
    stripes: u64,
    delays: u64,
    lives: u64,
}

/// The changes of a row after its insert.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Life {
    /// When each update comes, in rows.
    pub updates: Vec<u64>,
    /// When the delete comes.
    pub deleted: Option<u64>,
}

impl Plan {
    pub fn new(order: Ordering, step_ns: u64, rows: Option<u64>, stripes: u64, seed: u64) -> Plan {
        let (delays, lives) = (stream(seed, "\0delay"), stream(seed, "\0life"));
        Plan { order, step_ns, rows, stripes, delays, lives }
    }

    /// The least key that a row, or a later one, can have.
    fn floor(&self, row: u64) -> u64 {
        match self.order {
            Ordering::Changelog { .. } => row,
            _ => row.saturating_mul(self.step_ns),
        }
    }

    /// How many rows back a step that still waits can come from.
    pub fn reach(&self) -> u64 {
        match self.order {
            Ordering::Plain => 0,
            Ordering::Disorder { max_ns, late_by_ns, .. } => (max_ns + late_by_ns) / self.step_ns + 1,
            Ordering::Changelog { update_ratio, .. } => (update_ratio.ceil() as u64 + 1) * CHANGE_DISTANCE,
        }
    }

    /// The changes of a row.
    pub fn life(&self, row: u64) -> Life {
        let Ordering::Changelog { update_ratio, delete_ratio } = self.order else { return Life::default() };
        let mut draw = Draw::new(self.lives, row, 0);
        let count = update_ratio.floor() as u64 + u64::from(draw.unit() < update_ratio.fract());
        let deleted = draw.unit() < delete_ratio;
        let mut at = row;
        let mut next = |draw: &mut Draw| {
            at = at.saturating_add(1 + draw.below(CHANGE_DISTANCE));
            at
        };
        let updates = (0..count).map(|_| next(&mut draw)).collect();
        Life { updates, deleted: deleted.then(|| next(&mut draw)) }
    }

    fn steps(&self, row: u64, add: &mut dyn FnMut(Step)) {
        match self.order {
            Ordering::Plain => add(Step { key: 0, row, version: 0 }),
            Ordering::Disorder { max_ns, late_ratio, late_by_ns } => {
                let mut draw = Draw::new(self.delays, row, 0);
                let mut delay = draw.below(max_ns + 1);
                if draw.unit() < late_ratio {
                    delay += late_by_ns;
                }
                add(Step { key: self.floor(row).saturating_add(delay), row, version: 0 });
            }
            Ordering::Changelog { .. } => {
                add(Step { key: row, row, version: 0 });
                let life = self.life(row);
                for (version, key) in (1..).zip(life.updates.iter().copied().chain(life.deleted)) {
                    add(Step { key, row, version });
                }
            }
        }
    }

    /// Event time from one row to the next, in nanoseconds.
    pub fn step_ns(&self) -> u64 {
        self.step_ns
    }
}

/// How far a stripe is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StripePosition {
    pub stripe: u64,
    pub stripes: u64,
    /// The next row to look at, counted within the stripe.
    pub next: u64,
    /// The last step given.
    pub last: Option<Step>,
    /// Steps given.
    pub given: u64,
    /// Seed of the run.
    pub seed: u64,
    pub start_wall_ms: i64,
    pub start_instant_ms: i64,
}

impl StripePosition {
    /// Version, then the numbers in order; without a last step its row is `u64::MAX`.
    pub fn encode(&self) -> Vec<u8> {
        let last = self.last.unwrap_or(Step { key: 0, row: u64::MAX, version: 0 });
        let mut out = vec![VERSION];
        for number in [
            self.stripe,
            self.stripes,
            self.next,
            last.key,
            last.row,
            last.version.into(),
            self.given,
            self.seed,
            self.start_wall_ms as u64,
            self.start_instant_ms as u64,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out
    }

    /// Reads what [`StripePosition::encode`] wrote.
    pub fn decode(state: &SplitState) -> Result<StripePosition> {
        let unreadable = || Error::new(&codes::BAD_POSITION, &[("split", &state.split)]);
        let [VERSION, rest @ ..] = state.position.as_slice() else { return Err(unreadable()) };
        let numbers: Vec<u64> =
            rest.chunks(8).filter_map(|chunk| chunk.try_into().ok()).map(u64::from_le_bytes).collect();
        let [stripe, stripes, next, key, row, version, given, seed, wall, instant] = numbers[..] else {
            return Err(unreadable());
        };
        let version = u32::try_from(version).map_err(|_| unreadable())?;
        if stripe >= stripes {
            return Err(unreadable());
        }
        Ok(StripePosition {
            stripe,
            stripes,
            next,
            last: (row != u64::MAX).then_some(Step { key, row, version }),
            given,
            seed,
            start_wall_ms: wall as i64,
            start_instant_ms: instant as i64,
        })
    }
}

/// A stripe that gives its steps in order.
#[derive(Debug)]
pub(super) struct Stripe {
    pub position: StripePosition,
    waiting: BinaryHeap<Reverse<Step>>,
}

impl Stripe {
    /// Goes on from a position.
    pub fn new(position: StripePosition, plan: &Plan) -> Stripe {
        let mut waiting = BinaryHeap::new();
        let from = position.next.saturating_sub(plan.reach() / plan.stripes + 1);
        if plan.reach() > 0 {
            for index in from..position.next {
                plan.steps(index * plan.stripes + position.stripe, &mut |step| {
                    if position.last.is_none_or(|last| step > last) {
                        waiting.push(Reverse(step));
                    }
                });
            }
        }
        Stripe { position, waiting }
    }

    /// The next row to look at, if there is one.
    fn upcoming(&self, plan: &Plan) -> Option<u64> {
        let row = self.position.next.checked_mul(plan.stripes)?.checked_add(self.position.stripe)?;
        plan.rows.is_none_or(|rows| row < rows).then_some(row)
    }

    /// Whether every step was given.
    pub fn is_finished(&self, plan: &Plan) -> bool {
        self.waiting.is_empty() && self.upcoming(plan).is_none()
    }

    /// The next step.
    pub fn next(&mut self, plan: &Plan) -> Option<Step> {
        let step = loop {
            let upcoming = self.upcoming(plan);
            let ready = match (self.waiting.peek(), upcoming) {
                (Some(Reverse(step)), Some(row)) => step.key <= plan.floor(row),
                (Some(_), None) => true,
                (None, None) => return None,
                (None, Some(_)) => false,
            };
            if ready {
                break self.waiting.pop()?.0;
            }
            let row = upcoming?;
            self.position.next += 1;
            if plan.order == Ordering::Plain {
                break Step { key: 0, row, version: 0 };
            }
            let waiting = &mut self.waiting;
            plan.steps(row, &mut |step| waiting.push(Reverse(step)));
        };
        self.position.last = Some(step);
        self.position.given += 1;
        Some(step)
    }
}
