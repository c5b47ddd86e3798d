//! Waiting for the input of a source (or for its turn) so that the job counts as busy from the moment the input arrives.
//!
//! A task that waits is not in flight. It becomes so inside the waker that the input calls: whoever feeds a reader
//! finds the job busy as soon as the feeding call returns, before the task has run at all.

use crate::quiescence::{InFlight, Quiescence};
use base::BoxFuture;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The waker that a reader sees; one per source task.
#[derive(Debug)]
pub(crate) struct InputWaker {
    quiescence: Arc<Quiescence>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    task: Option<Waker>,
    /// The task waits, and its token is given back.
    waiting: bool,
    /// The input has called since the last poll.
    woken: bool,
    /// Taken for the task when it was woken.
    token: Option<InFlight>,
}

impl InputWaker {
    pub(crate) fn new(quiescence: Arc<Quiescence>) -> Arc<InputWaker> {
        Arc::new(InputWaker { quiescence, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for InputWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state();
        state.woken = true;
        if state.waiting {
            state.token.get_or_insert_with(|| self.quiescence.enter());
        }
        let task = state.task.clone();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// What a task waits for: the next event of its reader, for example. `busy` holds the task's token, and is empty only
/// while this waits.
pub(crate) struct InputWait<'a, T> {
    next: BoxFuture<'a, T>,
    busy: &'a mut Option<InFlight>,
    waker: &'a Arc<InputWaker>,
}

impl<'a, T> InputWait<'a, T> {
    pub(crate) fn new(
        next: BoxFuture<'a, T>,
        busy: &'a mut Option<InFlight>,
        waker: &'a Arc<InputWaker>,
    ) -> InputWait<'a, T> {
        InputWait { next, busy, waker }
    }

    /// The task works again: its token is in `busy`.
    fn resume(&mut self) -> MutexGuard<'a, State> {
        let mut state = self.waker.state();
        state.waiting = false;
        let token = state.token.take();
        if self.busy.is_none() {
            *self.busy = Some(token.unwrap_or_else(|| self.waker.quiescence.enter()));
        }
        state
    }
}

impl<T> Future for InputWait<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.resume();
        state.woken = false;
        if !state.task.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            state.task = Some(context.waker().clone());
        }
        drop(state);
        let waker = Waker::from(self.waker.clone());
        let polled = self.next.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            let mut state = self.waker.state();
            if !state.woken {
                state.waiting = true;
                drop(state);
                *self.busy = None;
            }
        }
        polled
    }
}

impl<T> Drop for InputWait<'_, T> {
    fn drop(&mut self) {
        drop(self.resume());
    }
}
