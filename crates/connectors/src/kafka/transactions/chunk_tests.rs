//! Chunks of an epoch: what is written is what is read.

use super::*;

fn outgoing(topic: &str) -> Outgoing<'_> {
    Outgoing { topic, partition: None, key: None, value: None, timestamp_ms: None, headers: &[] }
}

#[test]
fn messages_come_back_as_they_were() {
    let headers = [("h".to_string(), Some(vec![1, 2])), ("h".to_string(), None), (String::new(), Some(vec![]))];
    let mut kept = Kept::new(vec!["a".into(), "b".into()]);
    let messages = [
        Outgoing { key: Some(b"k"), value: Some(b"v"), partition: Some(7), ..outgoing("b") },
        Outgoing { key: Some(b""), timestamp_ms: Some(-5), headers: &headers, ..outgoing("a") },
        outgoing("a"),
    ];
    let added: usize = messages.iter().map(|message| kept.push(message).unwrap()).sum();
    assert!(kept.bytes() > added && added > 0);
    let chunks = kept.take();
    assert_eq!((chunks.len(), kept.bytes()), (1, 0));
    let read: Vec<_> = Messages::new(&chunks[0], "t").unwrap().map(Result::unwrap).collect();
    let none =
        || Stored { topic: "a", partition: None, key: None, value: None, timestamp_ms: None, headers: Vec::new() };
    assert_eq!(
        read,
        [
            Stored { topic: "b", key: Some(b"k"), value: Some(b"v"), partition: Some(7), ..none() },
            Stored { key: Some(b""), timestamp_ms: Some(-5), headers: headers.to_vec(), ..none() },
            none(),
        ]
    );
    assert!(kept.take().is_empty());
}

#[test]
fn a_full_chunk_takes_no_further_message() {
    let mut kept = Kept::new(vec!["a".into()]);
    let value = vec![7; CHUNK_BYTES / 2];
    for _ in 0..5 {
        kept.push(&Outgoing { value: Some(&value), ..outgoing("a") }).unwrap();
    }
    let counts = kept.take();
    let counts: Vec<usize> = counts.iter().map(|chunk| Messages::new(chunk, "t").unwrap().count()).collect();
    assert_eq!(counts, [2, 2, 1]);
}

#[test]
fn what_others_have_left_is_refused_and_torn_bytes_are_an_error() {
    assert_eq!(Messages::new(&Committable::from(b"xyz".to_vec()), "t").unwrap_err().code(), codes::FOREIGN_STATE.code);
    let mut kept = Kept::new(vec!["a".into()]);
    kept.push(&Outgoing { value: Some(b"value"), ..outgoing("a") }).unwrap();
    let whole = kept.take().remove(0).0;
    for length in MAGIC.len() + 9 + 1..whole.len() {
        let torn = Committable::from(whole[..length].to_vec());
        assert!(Messages::new(&torn, "t").unwrap().any(|message| message.is_err()), "{length}");
    }
}
