//! Tests of panes: they make the windows that rows are assigned to one by one.

use super::super::super::super::window::{Assigned, WindowAssigner};
use super::*;

fn window(kind: WindowKind, offset_ms: i64) -> Window {
    Window { kind, offset_ms, time_column: 0, time_zone: None, is_processing_time: false }
}

#[test]
fn panes_make_the_windows_of_a_row() {
    let kinds = [
        WindowKind::Hop { slide_ms: 5, size_ms: 10 },
        WindowKind::Hop { slide_ms: 1, size_ms: 60 },
        WindowKind::Hop { slide_ms: 10, size_ms: 15 },
        WindowKind::Hop { slide_ms: 6, size_ms: 9 },
        WindowKind::Cumulate { step_ms: 5, size_ms: 15 },
        WindowKind::Cumulate { step_ms: 1, size_ms: 60 },
    ];
    for (kind, offset_ms) in kinds.into_iter().flat_map(|kind| [0, 3, -4].map(|offset_ms| (kind.clone(), offset_ms))) {
        let window = window(kind, offset_ms);
        let grid = Grid::new(&window).expect("windows that share rows");
        let mut assigner = WindowAssigner::new(&window).expect("assigner");
        let mut assigned = Assigned::default();
        for time in -130..130 {
            assigner.assign(&[time], &mut assigned);
            assigned.ends.sort_unstable();
            let pane = grid.pane(time);
            assert!((grid.start(pane)..pane).contains(&time));
            let windows: Vec<i64> =
                (grid.first_window(pane)..=grid.last_window(pane)).step_by(grid.every_ms as usize).collect();
            assert_eq!(windows, assigned.ends, "{window:?} at {time}");
            assert_eq!(grid.numbered(grid.number(pane)), pane);
            assert!(windows.len() <= grid.windows_max());
            let all: Vec<i64> = (-60..60).map(|steps| grid.numbered(grid.number(pane) + steps)).collect();
            let shares = |other: &i64| {
                grid.last_window(*other) >= grid.first_window(pane)
                    && grid.first_window(*other) <= grid.last_window(pane)
            };
            let shared: Vec<i64> = all.iter().copied().filter(shares).collect();
            let near = Near { first: shared[0], last: shared[shared.len() - 1] };
            assert_eq!(grid.near(pane), near, "{window:?} at {time}");
            for end in &windows {
                let is_over = |other: &i64| grid.last_window(*other) <= *end;
                let over = all.iter().copied().filter(is_over).max();
                assert_eq!(grid.over(*end), over.expect("some are"), "{window:?} at {time}, position {end}");
            }
            let block = grid.block(pane);
            assert!(block >= pane && block - grid.size_ms < pane && (block - offset_ms) % grid.size_ms == 0);
        }
    }
}

#[test]
fn windows_that_share_no_rows_have_no_panes() {
    assert!(Grid::new(&window(WindowKind::Tumble { size_ms: 10 }, 0)).is_none());
    assert!(Grid::new(&window(WindowKind::Hop { slide_ms: 10, size_ms: 10 }, 0)).is_none());
    assert!(Grid::new(&window(WindowKind::Hop { slide_ms: 10, size_ms: 4 }, 0)).is_none());
    assert!(Grid::new(&window(WindowKind::Cumulate { step_ms: 10, size_ms: 10 }, 0)).is_none());
}

#[test]
fn times_at_the_ends_of_the_range_do_not_overflow() {
    let grid = Grid::new(&window(WindowKind::Hop { slide_ms: 7, size_ms: 21 }, 3)).expect("grid");
    for time in [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX] {
        let pane = grid.pane(time);
        assert!(grid.first_window(pane) >= pane || pane == i64::MAX);
        grid.last_window(pane);
        grid.block(pane);
    }
}
