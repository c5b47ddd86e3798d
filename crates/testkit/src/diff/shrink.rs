//! Makes a failing case smaller, as long as it fails in the same way.

use super::case::{Case, Way};
use super::cut::cut;
use super::judge::{Verdict, Wrong, judge};
use std::time::{Duration, Instant};

/// How long one case is made smaller.
const TIME_MAX: Duration = Duration::from_secs(45);

/// A failing case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The case.
    pub case: Case,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// Tries smaller forms of one failing case.
struct Shrinker {
    failing: Failing,
    deadline: Instant,
}

/// The smallest form that was found.
pub async fn shrink(failing: Failing) -> Failing {
    if failing.wrong.kind == "failed stuck" {
        return failing;
    }
    let mut shrinker = Shrinker { failing, deadline: Instant::now() + TIME_MAX };
    loop {
        let before = shrinker.failing.clone();
        shrinker.simplify_way().await;
        shrinker.drop_settings().await;
        shrinker.drop_steps().await;
        shrinker.cut_queries().await;
        if shrinker.failing == before || shrinker.is_over() {
            return shrinker.failing;
        }
    }
}

impl Shrinker {
    fn is_over(&self) -> bool {
        Instant::now() > self.deadline
    }

    /// Takes a candidate that fails in the same way.
    async fn take(&mut self, case: Case, way: Way) -> bool {
        if self.is_over() {
            return false;
        }
        // A race does not fail every time.
        let attempts = if way.parallelism > 1 && way.rest_every != 1 { 3 } else { 1 };
        for _ in 0..attempts {
            match judge(&case, std::slice::from_ref(&way)).await {
                Verdict::Wrong(wrong) if wrong.kind == self.failing.wrong.kind => {
                    self.failing = Failing { case, wrong: *wrong };
                    return true;
                }
                Verdict::Wrong(_) | Verdict::Same(..) => {}
                Verdict::Unsupported(_) | Verdict::Refused(..) | Verdict::Beyond => return false,
            }
        }
        false
    }

    async fn try_way(&mut self, change: impl FnOnce(&mut Way)) {
        let mut way = self.failing.wrong.way.clone();
        change(&mut way);
        if way != self.failing.wrong.way {
            self.take(self.failing.case.clone(), way).await;
        }
    }

    async fn simplify_way(&mut self) {
        self.try_way(|way| *way = Way::plain()).await;
        self.try_way(|way| way.restarts.clear()).await;
        self.try_way(|way| way.looks.clear()).await;
        self.try_way(|way| way.parallelism = 1).await;
        self.try_way(|way| way.batch = 1).await;
        self.try_way(|way| way.rest_every = 1).await;
        self.try_way(|way| way.batch = way.batch.min(2)).await;
        self.try_way(|way| way.parallelism = way.parallelism.min(2)).await;
    }

    async fn drop_settings(&mut self) {
        for index in (0..self.failing.case.settings.len()).rev() {
            let mut case = self.failing.case.clone();
            case.settings.remove(index);
            self.take(case, self.failing.wrong.way.clone()).await;
        }
    }

    async fn drop_steps(&mut self) {
        let mut size = self.failing.case.steps.len().div_ceil(2);
        while size > 0 && !self.is_over() {
            let mut start = 0;
            while start < self.failing.case.steps.len() && !self.is_over() {
                let steps = &self.failing.case.steps;
                let end = (start + size).min(steps.len());
                let rest = [&steps[..start], &steps[end..]].concat();
                let case = self.failing.case.with_steps(&rest);
                let way = shifted(&self.failing.wrong.way, start, end, case.steps.len());
                if case.steps.len() >= steps.len() || !self.take(case, way).await {
                    start = end;
                }
            }
            size /= 2;
        }
    }

    async fn cut_queries(&mut self) {
        let mut wanted = 0;
        while !self.is_over() {
            let case = &self.failing.case;
            let Some(query) = cut(&case.query, &case.names(), &case.views, wanted, false) else { break };
            let mut smaller = Case { query, ..case.clone() };
            smaller.drop_unused_views();
            if !self.take(smaller, self.failing.wrong.way.clone()).await {
                wanted += 1;
            }
        }
        for view in 0..self.failing.case.views.len() {
            let mut wanted = 0;
            while !self.is_over() && view < self.failing.case.views.len() {
                let case = &self.failing.case;
                let earlier = &case.views[..view];
                let Some(query) = cut(&case.views[view], &case.names(), earlier, wanted, true) else { break };
                let mut smaller = case.clone();
                smaller.views[view] = query;
                smaller.drop_unused_views();
                if !self.take(smaller, self.failing.wrong.way.clone()).await {
                    wanted += 1;
                }
            }
        }
    }
}

/// The way without the steps from `start` to `end`.
fn shifted(way: &Way, start: usize, end: usize, count: usize) -> Way {
    let moved = |places: &[usize]| -> Vec<usize> {
        let mut places: Vec<usize> =
            places.iter().map(|&place| if place > end { place - (end - start) } else { place.min(start) }).collect();
        places.retain(|&place| place > 0 && place <= count);
        places.dedup();
        places
    };
    Way { restarts: moved(&way.restarts), looks: moved(&way.looks), ..way.clone() }
}
