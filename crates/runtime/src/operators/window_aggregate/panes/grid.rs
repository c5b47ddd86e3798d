//! Panes: stretches of time of which the windows of HOP and CUMULATE are made.
//!
//! A pane is known by its end, like a window. Times are readings of the window's clock.

use base::plan::{Window, WindowKind};

/// Which panes make which windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// From the end of a window to the end of the next one.
    pub every_ms: i64,
    /// HOP: the size of a window. CUMULATE: of the largest one.
    pub size_ms: i64,
    pub is_cumulate: bool,
    pane_ms: i64,
    offset_ms: i64,
}

impl Grid {
    /// The panes of windows that share rows; `None` if each row is in one window at most.
    pub fn new(window: &Window) -> Option<Grid> {
        let (every_ms, size_ms, is_cumulate) = match window.kind {
            WindowKind::Hop { slide_ms, size_ms } => (slide_ms, size_ms, false),
            WindowKind::Cumulate { step_ms, size_ms } => (step_ms, size_ms, true),
            WindowKind::Tumble { .. } | WindowKind::Session { .. } => return None,
        };
        let is_shared = every_ms > 0 && every_ms < size_ms;
        let pane_ms = greatest_common_divisor(every_ms, size_ms);
        is_shared.then_some(Grid { every_ms, size_ms, is_cumulate, pane_ms, offset_ms: window.offset_ms })
    }

    /// The pane of a row.
    pub fn pane(&self, time: i64) -> i64 {
        floor(time, self.pane_ms, self.offset_ms).saturating_add(self.pane_ms)
    }

    /// When a pane starts.
    pub fn start(&self, pane: i64) -> i64 {
        pane.saturating_sub(self.pane_ms)
    }

    /// The end of the first window that has this pane.
    pub fn first_window(&self, pane: i64) -> i64 {
        ceil(pane, self.every_ms, self.offset_ms.saturating_add(self.size_ms))
    }

    /// The end of the last window that has this pane.
    pub fn last_window(&self, pane: i64) -> i64 {
        let every_ms = if self.is_cumulate { self.size_ms } else { self.every_ms };
        floor(self.start(pane), every_ms, self.offset_ms).saturating_add(self.size_ms)
    }

    /// The end of the block of a pane. Blocks are as long as windows, so that a window is in two of them at most.
    pub fn block(&self, pane: i64) -> i64 {
        ceil(pane, self.size_ms, self.offset_ms)
    }
}

/// Panes that share a window with one, itself among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Near {
    pub first: i64,
    pub last: i64,
}

impl Grid {
    /// The panes with which a pane shares windows.
    pub fn near(&self, pane: i64) -> Near {
        let end = if self.is_cumulate { self.block(pane) } else { self.first_window(pane) };
        let first = end.saturating_sub(self.size_ms).saturating_add(self.pane_ms);
        Near { first, last: self.last_window(pane) }
    }

    /// The last pane that no window behind `position`, the end of one, has.
    pub fn over(&self, position: i64) -> i64 {
        match self.is_cumulate {
            true => floor(position, self.size_ms, self.offset_ms),
            false => position.saturating_add(self.every_ms).saturating_sub(self.size_ms),
        }
    }

    /// Which pane it is, counted from the beginning of the grid.
    pub fn number(&self, pane: i64) -> i64 {
        pane.saturating_sub(self.offset_ms).div_euclid(self.pane_ms)
    }

    /// The pane with this number.
    pub fn numbered(&self, number: i64) -> i64 {
        number.saturating_mul(self.pane_ms).saturating_add(self.offset_ms)
    }

    /// How many windows have a pane at most.
    pub fn windows_max(&self) -> usize {
        usize::try_from(self.size_ms / self.every_ms).unwrap_or(usize::MAX).saturating_add(1)
    }
}

/// The last point of a grid that is not behind `time`.
fn floor(time: i64, unit_ms: i64, origin_ms: i64) -> i64 {
    time.saturating_sub(time.saturating_sub(origin_ms).rem_euclid(unit_ms))
}

/// The first point of a grid that is not before `time`.
fn ceil(time: i64, unit_ms: i64, origin_ms: i64) -> i64 {
    time.saturating_add(origin_ms.saturating_sub(time).rem_euclid(unit_ms))
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
