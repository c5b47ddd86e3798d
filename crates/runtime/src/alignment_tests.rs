//! Alignment of watermarks and barriers over channels.

use super::*;
use base::event::WATERMARK_MAX;

fn after(alignment: &mut Alignment, channel: usize, event: Event) -> Consequences {
    alignment.on_event(channel, &event).expect("a valid sequence")
}

fn watermark(watermark_ms: i64) -> Consequences {
    Consequences { watermark_ms: Some(watermark_ms), ..Consequences::default() }
}

#[test]
fn the_slowest_channel_decides() {
    let mut alignment = Alignment::new(2, None);
    assert_eq!(after(&mut alignment, 0, Event::Watermark(10)), Consequences::default());
    assert_eq!(after(&mut alignment, 1, Event::Watermark(5)), watermark(5));
    assert_eq!(after(&mut alignment, 1, Event::Watermark(20)), watermark(10));
    assert_eq!(after(&mut alignment, 0, Event::Watermark(7)), Consequences::default(), "never goes back");
}

#[test]
fn idle_and_ended_channels_hold_nothing_back() {
    let mut alignment = Alignment::new(3, None);
    after(&mut alignment, 0, Event::Watermark(10));
    after(&mut alignment, 1, Event::Watermark(30));
    assert_eq!(after(&mut alignment, 2, Event::Idle), watermark(10));
    assert_eq!(after(&mut alignment, 0, Event::End), watermark(30));
    assert_eq!(after(&mut alignment, 2, Event::Watermark(WATERMARK_NONE)), Consequences::default());
    assert_eq!(after(&mut alignment, 1, Event::Watermark(40)), Consequences::default(), "channel 2 is active again");
    assert_eq!(after(&mut alignment, 2, Event::Watermark(35)), watermark(35));
}

#[test]
fn when_all_are_idle_the_furthest_watermark_counts() {
    let mut alignment = Alignment::new(2, None);
    after(&mut alignment, 0, Event::Watermark(100));
    after(&mut alignment, 1, Event::Watermark(50));
    assert_eq!(after(&mut alignment, 0, Event::Idle), Consequences::default());
    let all = after(&mut alignment, 1, Event::Idle);
    assert_eq!(all, Consequences { watermark_ms: Some(100), idle: true, ..Consequences::default() });
    assert_eq!(after(&mut alignment, 1, Event::Idle), Consequences::default(), "said once");
    let active = Consequences { active: true, ..Consequences::default() };
    assert_eq!(after(&mut alignment, 0, Event::Watermark(WATERMARK_NONE)), active);
}

#[test]
fn the_last_end_ends() {
    let mut alignment = Alignment::new(2, None);
    after(&mut alignment, 0, Event::Watermark(WATERMARK_MAX));
    after(&mut alignment, 0, Event::End);
    assert_eq!(after(&mut alignment, 1, Event::Watermark(3)), watermark(3));
    assert_eq!(after(&mut alignment, 1, Event::Watermark(WATERMARK_MAX)), watermark(WATERMARK_MAX));
    assert_eq!(after(&mut alignment, 1, Event::End), Consequences { end: true, ..Consequences::default() });
}

#[test]
fn the_end_of_one_channel_does_not_end_the_time_of_idle_ones() {
    let mut alignment = Alignment::new(2, None);
    after(&mut alignment, 0, Event::Watermark(100));
    after(&mut alignment, 1, Event::Watermark(50));
    assert_eq!(after(&mut alignment, 1, Event::Idle), watermark(100));
    assert_eq!(after(&mut alignment, 0, Event::Watermark(WATERMARK_MAX)), Consequences::default());
    assert_eq!(after(&mut alignment, 0, Event::End), Consequences { idle: true, ..Consequences::default() });
    let next = Consequences { active: true, ..watermark(120) };
    assert_eq!(after(&mut alignment, 1, Event::Watermark(120)), next, "its rows are not late");
    assert_eq!(after(&mut alignment, 1, Event::Watermark(WATERMARK_MAX)), watermark(WATERMARK_MAX));
}

#[test]
fn a_barrier_waits_for_every_channel() {
    let mut alignment = Alignment::new(3, None);
    assert_eq!(after(&mut alignment, 0, Event::Barrier(Epoch(1))), Consequences::default());
    assert!(!alignment.is_readable(0) && alignment.is_readable(1));
    assert_eq!(after(&mut alignment, 1, Event::End), Consequences::default());
    let complete = after(&mut alignment, 2, Event::Barrier(Epoch(1)));
    assert_eq!(complete.barrier, Some(Epoch(1)));
    assert!(alignment.is_readable(0) && !alignment.is_readable(1) && alignment.is_readable(2));
}

#[test]
fn an_end_completes_a_barrier() {
    let mut alignment = Alignment::new(2, None);
    after(&mut alignment, 0, Event::Watermark(9));
    after(&mut alignment, 0, Event::Barrier(Epoch(4)));
    let complete = after(&mut alignment, 1, Event::End);
    assert_eq!(complete, Consequences { watermark_ms: Some(9), barrier: Some(Epoch(4)), ..Consequences::default() });
}

#[test]
fn a_foreign_barrier_is_a_bug() {
    let mut alignment = Alignment::new(2, None);
    after(&mut alignment, 0, Event::Barrier(Epoch(1)));
    assert!(alignment.on_event(1, &Event::Barrier(Epoch(2))).is_err());
}

#[test]
fn a_restored_watermark_is_not_given_again() {
    let mut alignment = Alignment::new(1, Some(50));
    assert_eq!(after(&mut alignment, 0, Event::Watermark(40)), Consequences::default());
    assert_eq!(after(&mut alignment, 0, Event::Watermark(51)), watermark(51));
}

#[test]
fn a_channel_without_time_holds_nothing_back_and_gives_none() {
    let mut alignment = Alignment::new(3, None);
    alignment.ignore_time(2);
    assert_eq!(after(&mut alignment, 2, Event::Watermark(50)), Consequences::default());
    assert_eq!(after(&mut alignment, 0, Event::Watermark(10)), Consequences::default());
    assert_eq!(after(&mut alignment, 1, Event::Watermark(5)), watermark(5), "channel 2 is not waited for");
    after(&mut alignment, 0, Event::Idle);
    let idle = after(&mut alignment, 1, Event::Idle);
    assert_eq!(idle, Consequences { watermark_ms: Some(10), idle: true, ..Consequences::default() });
    for channel in [0, 1] {
        after(&mut alignment, channel, Event::Watermark(WATERMARK_MAX));
        assert!(!after(&mut alignment, channel, Event::End).end, "channel 2 goes on");
    }
    assert_eq!(alignment.watermark_ms(), Some(WATERMARK_MAX));
    assert!(after(&mut alignment, 2, Event::End).end);
}

#[test]
fn channels_catch_up_one_by_one() {
    let mut alignment = Alignment::new(2, None);
    assert!(after(&mut alignment, 1, Event::CaughtUp).caught_up);
    assert!(alignment.have_caught_up([1].into_iter()) && !alignment.have_caught_up(0..2));
    after(&mut alignment, 0, Event::CaughtUp);
    assert!(alignment.have_caught_up(0..2));
}
