//! Hash partitioning.

use super::*;
use arrow::array::ArrayRef;
use base::RowKind;
use std::collections::BTreeMap;

#[test]
fn every_row_goes_to_one_receiver_in_order() {
    let keys: arrow::array::ArrayRef = Arc::new((0..1000).map(|i| i % 37).collect::<arrow::array::Int64Array>());
    let hashes = hash_columns(&[keys], 1000).expect("hashable");
    for receivers in [2, 3, 128] {
        let (rows, ends) = partition(&hashes, receivers);
        assert_eq!(ends[receivers - 1], 1000);
        let mut seen = rows.to_vec();
        let mut owner = BTreeMap::new();
        let mut start = 0;
        for (receiver, end) in ends.into_iter().enumerate() {
            let part = &rows[start..end];
            assert!(part.is_sorted(), "the order within a receiver is the order of arrival");
            for row in part {
                assert_eq!(*owner.entry(row % 37).or_insert(receiver), receiver, "a key has one receiver");
            }
            start = end;
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<u32>>());
    }
}

#[tokio::test]
async fn rows_go_to_one_receiver_and_everything_else_to_all() {
    let (senders, mut receivers): (Vec<_>, Vec<_>) = (0..2).map(|_| channel()).unzip();
    let router = Router::new(senders, vec![0], Arc::default());
    let column: arrow::array::ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![7]));
    let records = arrow::array::RecordBatch::try_from_iter([("k", column)]).expect("a batch");
    let batch = ChangelogBatch::new(records, vec![RowKind::Delete]);
    router.send(Event::Watermark(5)).await.expect("sent");
    router.send(Event::Data(batch.clone())).await.expect("sent");
    router.send(Event::Idle).await.expect("sent");
    drop(router);
    let mut rows = 0;
    for receiver in &mut receivers {
        let mut events = Vec::new();
        while let Some(message) = receiver.recv().await {
            match message.event {
                Event::Data(part) => {
                    assert_eq!(part, batch);
                    rows += 1;
                }
                event => events.push(event),
            }
        }
        assert_eq!(events, [Event::Watermark(5), Event::Idle]);
    }
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn large_batches_wait_until_there_is_room_for_them() {
    let (sender, mut receiver) = channel();
    let router = Router::new(vec![sender], vec![], Arc::default());
    let text = "x".repeat(CHANNEL_BYTES_MAX / 2 + BYTES_UNIT);
    let column: ArrayRef = Arc::new(arrow::array::StringArray::from(vec![text]));
    let records = arrow::array::RecordBatch::try_from_iter([("text", column)]).expect("a batch");
    let rows = || Event::Data(ChangelogBatch::inserts(records.clone()));
    router.send(rows()).await.expect("sent");
    let mut second = Box::pin(router.send(rows()));
    tokio::select! {
        biased;
        _ = &mut second => panic!("there is no room for two"),
        () = std::future::ready(()) => {}
    }
    drop(receiver.recv().await.expect("the first"));
    second.await.expect("sent");
    // What is larger than a channel passes alone.
    let text = "x".repeat(2 * CHANNEL_BYTES_MAX);
    let column: ArrayRef = Arc::new(arrow::array::StringArray::from(vec![text]));
    let records = arrow::array::RecordBatch::try_from_iter([("text", column)]).expect("a batch");
    drop(receiver.recv().await.expect("the second"));
    router.send(Event::Data(ChangelogBatch::inserts(records))).await.expect("sent");
    assert!(receiver.recv().await.is_some());
}
