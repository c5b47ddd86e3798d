//! Watermarks per split, and that lateness does not depend on batching.

use super::*;

fn id(name: &str) -> SplitId {
    SplitId::from(name)
}

fn watermarks(rule: CutRule, idle_timeout: Option<Duration>) -> SplitWatermarks {
    SplitWatermarks::new(rule, idle_timeout, BTreeMap::new(), None)
}

/// Rows whose watermark is their time less `delay`.
fn feed(state: &mut SplitWatermarks, split: &str, times: &[i64], delay: i64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let marks: Int64Array = times.iter().map(|time| Some(time - delay)).collect();
    state.rows(&id(split), &Int64Array::from(times.to_vec()), &marks, &mut pieces);
    pieces
}

fn piece(rows: Range<usize>, watermark_ms: Option<i64>) -> Piece {
    Piece { rows, watermark_ms }
}

#[test]
fn rows_in_bound_are_not_cut() {
    let mut state = watermarks(CutRule::Late, None);
    assert_eq!(feed(&mut state, "a", &[10, 12, 9, 15, 13], 5), [piece(0..5, Some(10))]);
    assert_eq!(feed(&mut state, "a", &[11, 14], 5), [piece(0..2, None)]);
}

#[test]
fn a_row_behind_the_running_watermark_is_cut_off() {
    let mut state = watermarks(CutRule::Late, None);
    assert_eq!(
        feed(&mut state, "a", &[10, 30, 25, 24, 40], 5),
        [piece(0..2, Some(25)), piece(2..5, Some(35))],
        "once the watermark is out, late rows need no further cut"
    );
}

#[test]
fn a_row_next_to_the_watermark_is_cut_off_for_sessions() {
    let mut state = watermarks(CutRule::LateOrAdjacent, None);
    assert_eq!(feed(&mut state, "a", &[30, 26, 27], 5), [piece(0..1, Some(25)), piece(1..3, None)]);
}

#[test]
fn single_rows_send_a_watermark_after_every_advance() {
    let mut state = watermarks(CutRule::EveryAdvance, None);
    assert_eq!(
        feed(&mut state, "a", &[10, 11, 9, 12], 0),
        [piece(0..1, Some(10)), piece(1..2, Some(11)), piece(2..4, Some(12))]
    );
}

#[test]
fn null_watermarks_move_nothing() {
    let mut state = watermarks(CutRule::Late, None);
    let mut pieces = Vec::new();
    let marks = Int64Array::from(vec![None, Some(3), None]);
    state.rows(&id("a"), &Int64Array::from(vec![9, 8, 7]), &marks, &mut pieces);
    assert_eq!(pieces, [piece(0..3, Some(3))]);
}

#[test]
fn the_split_furthest_behind_decides() {
    let mut state = watermarks(CutRule::Late, None);
    state.started(&id("a"));
    state.started(&id("b"));
    assert_eq!(feed(&mut state, "a", &[100], 0), [piece(0..1, None)]);
    assert_eq!(feed(&mut state, "b", &[50], 0), [piece(0..1, Some(50))]);
    assert_eq!(feed(&mut state, "b", &[150, 90], 0), [piece(0..1, Some(100)), piece(1..2, None)]);
    assert_eq!(state.finished(&id("a")).watermark_ms, Some(150));
    assert_eq!(state.finished(&id("b")), Change::default());
    assert_eq!(state.known().len(), 2, "watermarks of finished splits stay for the checkpoint");
}

#[test]
fn a_silent_split_stops_counting_until_its_next_row() {
    let mut state = watermarks(CutRule::Late, Some(Duration::from_secs(10)));
    state.started(&id("a"));
    state.started(&id("b"));
    feed(&mut state, "a", &[100], 0);
    assert_eq!(state.waited(Duration::from_secs(6)), Change::default());
    feed(&mut state, "a", &[110], 0);
    assert_eq!(state.until_idle(), Some(Duration::from_secs(4)));
    assert_eq!(state.waited(Duration::from_secs(4)), Change { watermark_ms: Some(110), idle: false });
    assert_eq!(state.waited(Duration::from_secs(6)), Change { watermark_ms: None, idle: true });
    assert_eq!(state.until_idle(), None);
    assert!(!feed(&mut state, "b", &[200], 0).is_empty());
    assert_eq!(state.sent_ms(), Some(200), "a is still idle");
    feed(&mut state, "a", &[120], 0);
    feed(&mut state, "b", &[300], 0);
    assert_eq!(state.sent_ms(), Some(200), "a counts again");
}

#[test]
fn restored_splits_go_on_from_their_watermarks() {
    let restored = BTreeMap::from([(id("a"), 10), (id("b"), 50)]);
    let mut state = SplitWatermarks::new(CutRule::Late, None, restored, Some(10));
    state.started(&id("a"));
    state.started(&id("b"));
    assert_eq!(feed(&mut state, "b", &[60], 0), [piece(0..1, None)]);
    assert_eq!(feed(&mut state, "a", &[20], 0), [piece(0..1, Some(20))]);
}

/// For every row, the watermark that an operator has seen when the row arrives, as far as it can tell: rows ahead of
/// it are equal to each other.
fn seen(rows: &[(u8, i64)], delay: i64, batch: usize, rule: CutRule) -> Vec<Option<i64>> {
    let mut state = watermarks(rule, None);
    state.started(&id("0"));
    state.started(&id("1"));
    let mut seen = Vec::new();
    let mut current = NONE;
    let mut at = 0;
    while at < rows.len() {
        // Batches hold rows of one split.
        let split = rows[at].0;
        let length = rows[at..].iter().take(batch).take_while(|row| row.0 == split).count();
        let times: Vec<i64> = rows[at..at + length].iter().map(|row| row.1).collect();
        for piece in feed(&mut state, &split.to_string(), &times, delay) {
            for row in piece.rows {
                seen.push((times[row] <= current).then_some(current));
            }
            if let Some(watermark_ms) = piece.watermark_ms {
                assert!(watermark_ms > current, "watermarks only rise");
                current = watermark_ms;
            }
        }
        at += length;
    }
    seen
}

#[test]
fn lateness_does_not_depend_on_batching() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for _ in 0..200 {
        let delay = next(20) as i64;
        let spread = 1 + next(60);
        let runs = 1 + next(30);
        let mut rows = Vec::new();
        let mut time = 0;
        for _ in 0..next(40) {
            let split = next(2) as u8;
            for _ in 0..=next(runs) {
                time += next(4) as i64;
                rows.push((split, time - next(spread) as i64));
            }
        }
        let single = seen(&rows, delay, 1, CutRule::EveryAdvance);
        for batch in [1, 7, 4096] {
            assert_eq!(seen(&rows, delay, batch, CutRule::Late), single, "batch {batch}, delay {delay}: {rows:?}");
        }
    }
}

#[test]
fn a_restored_source_promises_no_more_than_its_splits_have_reached() {
    let known = BTreeMap::from([(id("a"), 100), (id("b"), 50)]);
    assert_eq!(resume_ms(Some(100), &known, [id("a")]), Some(100));
    assert_eq!(resume_ms(Some(i64::MAX), &known, [id("a"), id("b")]), Some(50), "the instance had ended");
    assert_eq!(resume_ms(Some(40), &known, [id("a")]), Some(40), "other splits held it back");
    assert_eq!(resume_ms(Some(i64::MAX), &known, [id("new")]), None);
    assert_eq!(resume_ms(None, &known, [id("a")]), None);
}

#[test]
fn splits_that_moved_in_a_restart_hold_nothing_back_that_they_have_passed() {
    let known = BTreeMap::from([(id("a"), 100), (id("b"), 50)]);
    let mut waits = SplitWatermarks::new(CutRule::Late, None, known.clone(), None);
    waits.started(&id("a"));
    waits.started(&id("b"));
    assert!(!waits.is_settled());
    assert_eq!(waits.settle(), Change { watermark_ms: Some(50), idle: false });
    assert!(waits.is_settled());
    let mut reads = SplitWatermarks::new(CutRule::Late, None, known.clone(), None);
    reads.started(&id("a"));
    reads.started(&id("b"));
    let mut pieces = Vec::new();
    let times = Int64Array::from(vec![40, 60]);
    reads.rows(&id("b"), &times, &times, &mut pieces);
    let late = Piece { rows: 0..0, watermark_ms: Some(50) };
    assert_eq!(pieces, [late, Piece { rows: 0..2, watermark_ms: Some(60) }], "a row that was late is late again");
    let mut other = SplitWatermarks::new(CutRule::Late, None, known, None);
    other.started(&id("a"));
    other.started(&id("new"));
    assert_eq!(other.settle(), Change::default(), "a split without a watermark holds it back");
}
