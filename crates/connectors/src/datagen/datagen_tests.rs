//! The tests of the generator's specification, and its options.

use crate::testing::*;
use arrow::array::{Array, AsArray};
use arrow::datatypes::*;
use base::connector::*;
use base::{ChangelogBatch, RowKind, TableDefinition};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

async fn start(table: &TableDefinition) -> Arc<dyn SourceProvider> {
    let source = connector("datagen").source(table, &scan(table, &[]), &context()).unwrap();
    source.start(&[]).await.unwrap();
    source
}

/// All batches of all readers.
async fn generate(table: &TableDefinition, parallelism: usize, rows_max: usize) -> Vec<ChangelogBatch> {
    let source = start(table).await;
    let mut batches = Vec::new();
    for index in 0..parallelism {
        let mut reader = source.reader(Instance { index, parallelism }, &[]).unwrap();
        batches.extend(read_all(reader.as_mut(), rows_max).await.unwrap());
    }
    batches
}

/// Kind and content of every row, as text.
fn rows(batches: &[ChangelogBatch]) -> Vec<String> {
    let options = arrow::util::display::FormatOptions::default();
    let mut found = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .records()
            .columns()
            .iter()
            .map(|column| arrow::util::display::ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            found.push(format!("{}[{}]", batch.kind(row), values.join(", ")));
        }
    }
    found
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// The orders of the specification.
fn orders(more: &[(&str, &str)]) -> TableDefinition {
    let options = [
        ("connector", "datagen"),
        ("rows-per-second", "1e9"),
        ("event-time.step", "100 ms"),
        ("seed", "42"),
        ("event-time.start", "2024-11-20 15:00:00"),
        ("fields.order_id.kind", "sequence"),
        ("fields.order_id.start", "1"),
        ("fields.order_id.format", "ORD%08d"),
        ("fields.user_id.min", "1"),
        ("fields.user_id.max", "10000"),
        ("fields.user_id.distribution", "hot-keys"),
        ("fields.user_id.hot.count", "10"),
        ("fields.user_id.hot.share", "0.2"),
        ("fields.amount.distribution", "lognormal"),
        ("fields.amount.mu", "3"),
        ("fields.amount.sigma", "0.8"),
        ("fields.order_time.kind", "event-time"),
    ];
    let columns = "order_id STRING | user_id BIGINT | amount DECIMAL(10, 2) | order_time TIMESTAMP(3)";
    table(columns, &[&options, more].concat())
}

#[tokio::test]
async fn the_same_seed_gives_the_same_rows_at_any_parallelism() {
    for more in [&[][..], &[("disorder.max", "4 s"), ("late.ratio", "0.1"), ("late.by", "10 s")]] {
        let orders = orders(&[&[("number-of-rows", "500")], more].concat());
        let one = sorted(rows(&generate(&orders, 1, 64).await));
        assert_eq!(one.len(), 500);
        assert_eq!(one, sorted(rows(&generate(&orders, 4, 7).await)));
        assert_eq!(one, sorted(rows(&generate(&orders, 3, 1).await)));
        let mut other = orders.clone();
        other.options.set("seed", "43");
        assert_ne!(one, sorted(rows(&generate(&other, 1, 64).await)));
    }
    let first = &rows(&generate(&orders(&[("number-of-rows", "2")]), 1, 64).await)[1];
    assert!(first.starts_with("+I[ORD00000002, ") && first.ends_with(", 2024-11-20T15:00:00.100]"), "{first}");
}

#[tokio::test]
async fn lognormal_and_hot_keys_have_their_shape() {
    let batches = generate(&orders(&[("number-of-rows", "100000")]), 1, 4096).await;
    let mut amounts: Vec<f64> = Vec::new();
    let mut users: Vec<i64> = Vec::new();
    for batch in &batches {
        users.extend(batch.records().column(1).as_primitive::<Int64Type>().values());
        let cents = batch.records().column(2).as_primitive::<Decimal128Type>();
        amounts.extend(cents.values().iter().map(|cents| *cents as f64 / 100.0));
    }
    amounts.sort_by(f64::total_cmp);
    let (median, mean) = (amounts[50_000], amounts.iter().sum::<f64>() / 100_000.0);
    assert!((median / 3f64.exp() - 1.0).abs() < 0.02, "median {median}");
    assert!((mean / 3.32f64.exp() - 1.0).abs() < 0.02, "mean {mean}");
    assert!((amounts[99_900] / 238.0 - 1.0).abs() < 0.1, "99.9th percentile {}", amounts[99_900]);
    let hot = users.iter().filter(|user| (1..=10).contains(*user)).count() as f64 / 100_000.0;
    let expected = 0.2 + 0.8 * 10.0 / 10_000.0;
    assert!((hot - expected).abs() < 0.01, "hot share {hot}");
    assert!(users.iter().all(|user| (1..=10_000).contains(user)));
}

#[tokio::test]
async fn disorder_stays_below_its_bound_and_late_rows_do_not() {
    let late = |batches: &[ChangelogBatch]| {
        let (mut watermark, mut late, mut disordered) = (i64::MIN, 0, 0);
        for batch in batches {
            for time in batch.records().column(3).as_primitive::<TimestampMillisecondType>().values() {
                late += usize::from(*time <= watermark);
                disordered += usize::from(*time < watermark.saturating_add(5_000));
                watermark = watermark.max(time - 5_000);
            }
        }
        (late, disordered)
    };
    let bounded = orders(&[("number-of-rows", "5000"), ("disorder.max", "4 s")]);
    for parallelism in [1, 4] {
        let source = start(&bounded).await;
        for index in 0..parallelism {
            let mut reader = source.reader(Instance { index, parallelism }, &[]).unwrap();
            let (late, disordered) = late(&read_all(reader.as_mut(), 100).await.unwrap());
            assert_eq!(late, 0);
            assert!(disordered > 100, "{disordered} rows out of order");
        }
    }
    let more = [("number-of-rows", "5000"), ("disorder.max", "4 s"), ("late.ratio", "0.02"), ("late.by", "30 s")];
    let (late, _) = late(&generate(&orders(&more), 1, 100).await);
    assert!((60..=140).contains(&late), "{late} late rows");
}

fn changelog(rows: &str) -> TableDefinition {
    let columns =
        "order_id BIGINT NOT NULL | sales STRING | amount DECIMAL(10, 2) | status STRING | created TIMESTAMP(3)";
    let mut orders = table(
        columns,
        &[
            ("connector", "datagen"),
            ("rows-per-second", "1e9"),
            ("event-time.start", "2024-11-20 15:00:00"),
            ("seed", "42"),
            ("changelog", "true"),
            ("changelog.update-fields", "status,amount"),
            ("number-of-rows", rows),
            ("fields.order_id.kind", "sequence"),
            ("fields.sales.distribution", "choice"),
            ("fields.sales.values", "张三,李四,王五,赵六"),
            ("fields.amount.min", "1"),
            ("fields.amount.max", "99.99"),
            ("fields.status.distribution", "choice"),
            ("fields.status.values", "pending,paid,refund"),
            ("fields.status.weights", "70,25,5"),
            ("fields.created.kind", "event-time"),
        ],
    );
    orders.primary_key = vec!["order_id".into()];
    orders
}

#[tokio::test]
async fn every_before_image_is_the_last_after_image() {
    let orders = changelog("10000");
    let description = connector("datagen").describe(&orders, &context()).unwrap();
    assert_eq!(description.source.unwrap().changelog, base::ChangelogMode::ALL);
    for (parallelism, rows_max) in [(1, 100), (4, 1)] {
        let batches = generate(&orders, parallelism, rows_max).await;
        let mut live: BTreeMap<String, String> = BTreeMap::new();
        let mut counts: BTreeMap<RowKind, usize> = BTreeMap::new();
        for batch in &batches {
            let last = batch.kind(batch.num_rows() - 1);
            assert_ne!(last, RowKind::UpdateBefore, "an update is never cut");
            for row in rows(std::slice::from_ref(batch)) {
                let (kind, content) = row.split_at(2);
                let kind = RowKind::parse(kind).unwrap();
                *counts.entry(kind).or_default() += 1;
                let key = content.split(',').next().unwrap().to_string();
                if kind.is_addition() {
                    assert_eq!(live.insert(key, content.to_string()), None, "{row}");
                } else {
                    assert_eq!(live.remove(&key).as_deref(), Some(content), "{row}");
                }
            }
        }
        assert_eq!(counts[&RowKind::Insert], 10_000);
        assert!((1_800..=2_200).contains(&counts[&RowKind::UpdateAfter]), "{counts:?}");
        assert!((420..=580).contains(&counts[&RowKind::Delete]), "{counts:?}");
        assert_eq!(live.len(), 10_000 - counts[&RowKind::Delete]);
    }
    assert_eq!(sorted(rows(&generate(&orders, 1, 64).await)), sorted(rows(&generate(&orders, 3, 64).await)));
}

#[tokio::test]
async fn a_restart_goes_on_with_the_next_row_at_another_parallelism() {
    let disordered = orders(&[("number-of-rows", "300"), ("disorder.max", "4 s")]);
    for table in [orders(&[("number-of-rows", "300")]), disordered, changelog("300")] {
        let whole = sorted(rows(&generate(&table, 2, 16).await));
        for batches in [0, 1, 3, 9] {
            let source = start(&table).await;
            let (mut read, mut states) = (Vec::new(), Vec::new());
            for index in 0..2 {
                let mut reader = source.reader(Instance { index, parallelism: 2 }, &[]).unwrap();
                let mut given = 0;
                while given < batches {
                    if let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 16).await.unwrap() {
                        read.extend(rows(&[batch]));
                        given += 1;
                    }
                }
                states.extend(reader.snapshot().unwrap());
            }
            let restarted = start(&table).await;
            for index in 0..3 {
                let mut reader = restarted.reader(Instance { index, parallelism: 3 }, &states).unwrap();
                read.extend(rows(&read_all(reader.as_mut(), 16).await.unwrap()));
            }
            assert_eq!(sorted(read), whole, "after {batches} batches");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn rows_come_at_their_rate() {
    let slow = table("a BIGINT", &[("connector", "datagen"), ("rows-per-second", "0.5"), ("number-of-rows", "3")]);
    let began = tokio::time::Instant::now();
    assert_eq!(generate(&slow, 1, 100).await.len(), 3);
    assert_eq!(began.elapsed().as_secs(), 4);
    let fast = table("a BIGINT", &[("connector", "datagen"), ("rows-per-second", "1000"), ("number-of-rows", "500")]);
    let began = tokio::time::Instant::now();
    let batches = generate(&fast, 1, 100).await;
    assert!((450..=550).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    assert!(batches.len() < 150, "{} batches", batches.len());
    // A wait that is given up loses nothing.
    let source = start(&slow).await;
    let mut reader = source.reader(Instance { index: 0, parallelism: 1 }, &[]).unwrap();
    let mut read = 0;
    loop {
        match tokio::time::timeout(std::time::Duration::from_millis(300), next(reader.as_mut(), 100)).await {
            Err(_) => {}
            Ok(Ok(SourceEvent::Batch { batch, .. })) => read += batch.num_rows(),
            Ok(Ok(SourceEvent::End)) => break,
            Ok(_) => {}
        }
    }
    assert_eq!(read, 3);
}

#[tokio::test]
async fn every_type_is_generated() {
    let columns = "a TINYINT | b SMALLINT | c INT | d BIGINT | e FLOAT | f DOUBLE | g DECIMAL(38, 18) | h BOOLEAN | \
                   i CHAR(3) | j VARCHAR(5) | k STRING | l BINARY(2) | m BYTES | n DATE | o TIME(0) | p TIMESTAMP(9) | \
                   q TIMESTAMP_LTZ(6) | r ARRAY<INT> | s MAP<STRING, BIGINT> | \
                   t ROW<`x` INT, `y` STRING> | u BIGINT NOT NULL";
    let everything = table(
        columns,
        &[
            ("connector", "datagen"),
            ("number-of-rows", "200"),
            ("rows-per-second", "1e9"),
            ("seed", "1"),
            ("fields.c.null-rate", "0.5"),
            ("fields.d.distribution", "zipf"),
            ("fields.d.min", "1"),
            ("fields.d.max", "1000000"),
            ("fields.e.distribution", "normal"),
            ("fields.e.scale", "2"),
            ("fields.f.distribution", "exponential"),
            ("fields.f.rate", "0.5"),
            ("fields.k.length", "8"),
            ("fields.k.var-len", "true"),
            ("fields.p.max-past", "1 h"),
            ("fields.r.length", "2"),
            ("fields.r.element.min", "5"),
            ("fields.r.element.max", "6"),
            ("fields.t.y.expression", "#{Name.firstName}"),
            ("fields.u.kind", "event-time"),
        ],
    );
    let batches = generate(&everything, 2, 64).await;
    let values: Vec<String> = rows(&batches);
    assert_eq!(values.len(), 200);
    assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), 200);
    let nulls: usize = batches.iter().map(|batch| batch.records().column(2).null_count()).sum();
    assert!((70..=130).contains(&nulls), "{nulls}");
    for batch in &batches {
        let column = |index: usize| batch.records().column(index);
        assert!(column(8).as_string::<i32>().iter().all(|text| text.unwrap().len() == 3));
        assert!(column(9).as_string::<i32>().iter().all(|text| text.unwrap().len() == 5));
        assert!(column(10).as_string::<i32>().iter().all(|text| (1..=8).contains(&text.unwrap().len())));
        let elements = column(17).as_list::<i32>().values().as_primitive::<Int32Type>().clone();
        assert!(elements.len() == 2 * batch.num_rows() && elements.values().iter().all(|v| (5..=6).contains(v)));
        let ranks = column(3).as_primitive::<Int64Type>();
        assert!(ranks.values().iter().all(|rank| (1..=1_000_000).contains(rank)));
        let now = 1_732_114_800_000_000_000_i64;
        let past = column(15).as_primitive::<TimestampNanosecondType>();
        assert!(past.values().iter().all(|v| (now - 3_600_000_000_000..=now + 1_000_000).contains(v)));
        assert_eq!(column(20).as_primitive::<Int64Type>().value(0), 1_732_114_800_000);
    }
}

#[tokio::test]
async fn zipf_shares_follow_the_exponent() {
    let ranks = table(
        "a INT",
        &[
            ("connector", "datagen"),
            ("number-of-rows", "100000"),
            ("rows-per-second", "1e9"),
            ("seed", "7"),
            ("fields.a.distribution", "zipf"),
            ("fields.a.min", "1"),
            ("fields.a.max", "100"),
        ],
    );
    let mut counts = [0usize; 101];
    for batch in generate(&ranks, 1, 4096).await {
        batch.records().column(0).as_primitive::<Int32Type>().values().iter().for_each(|v| counts[*v as usize] += 1);
    }
    let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
    for rank in [1, 2, 10] {
        let expected = 100_000.0 / harmonic / rank as f64;
        assert!((counts[rank] as f64 / expected - 1.0).abs() < 0.06, "rank {rank}: {} not {expected}", counts[rank]);
    }
}

#[tokio::test]
async fn expressions_give_text_that_fits() {
    let people = table(
        "name STRING | city STRING | ip STRING | code STRING | age INT | mixed STRING",
        &[
            ("connector", "faker"),
            ("number-of-rows", "50"),
            ("rows-per-second", "1e9"),
            ("seed", "42"),
            ("fields.name.expression", "#{Name.fullName}"),
            ("fields.city.expression", "#{Address.city}"),
            ("fields.ip.expression", "#{Internet.ipV4Address}"),
            ("fields.code.expression", "#{regexify '[a-z]{8}-(x|yz)\\d+'}"),
            ("fields.age.expression", "#{number.number_between '18','21'}"),
            ("fields.mixed.expression", "<#{Options.option 'a','it''s'}>"),
        ],
    );
    let code = regex::Regex::new(r"^[a-z]{8}-(x|yz)[0-9]+$").unwrap();
    for batch in generate(&people, 1, 100).await {
        let column = |index: usize| batch.records().column(index).as_string::<i32>().clone();
        assert!(column(0).iter().all(|name| name.unwrap().split(' ').count() >= 2));
        assert!(column(1).iter().all(|city| !city.unwrap().is_empty()));
        assert!(column(2).iter().all(|ip| ip.unwrap().split('.').count() == 4));
        assert!(column(3).iter().all(|text| code.is_match(text.unwrap())), "{:?}", column(3));
        let ages = batch.records().column(4).as_primitive::<Int32Type>();
        assert!(ages.values().iter().all(|age| (18..=20).contains(age)));
        let mixed: BTreeSet<Option<String>> = column(5).iter().map(|text| text.map(str::to_string)).collect();
        assert_eq!(mixed, [Some("<a>".to_string()), Some("<it's>".to_string())].into());
    }
}

#[test]
fn wrong_options_say_what_fits() {
    let cases: [(&str, &str, &[&str]); 16] = [
        ("fields.amount.distribtion", "normal", &["'fields.amount.distribution'"]),
        ("fields.amont.min", "1", &["unknown column 'amont'", "'amount'"]),
        ("fields.city.distribution", "lognormal", &["does not fit column 'city' of type STRING", "DECIMAL"]),
        ("fields.flag.distribution", "zipf", &["does not fit column 'flag' of type BOOLEAN", "BIGINT"]),
        ("fields.user_id.min", "5000000000", &["fits INT"]),
        ("fields.user_id.max", "x", &["fields.user_id.max", "a number"]),
        ("fields.city.kind", "reference", &["does not support", "reference"]),
        ("fields.city.kind", "event-time", &["TIMESTAMP_LTZ"]),
        ("fields.city.expression", "#{Name.fulName}", &["#{Name.fullName}"]),
        ("fields.city.distribution", "choice", &["'fields.city.values'"]),
        ("fields.amount.scale", "3", &["from 0 to 2"]),
        ("rows-per-second", "0", &["rows-per-second", "above 0"]),
        ("rows-per-secnd", "1", &["'rows-per-second'"]),
        ("event-time.start", "yesterday", &["2024-11-20 15:00:00"]),
        ("changelog", "true", &["needs a primary key"]),
        ("late.by", "1000 d", &["fields"]),
    ];
    for (key, value, parts) in cases {
        let columns = "user_id INT | amount DECIMAL(10, 2) | city STRING | flag BOOLEAN";
        let wrong = table(columns, &[("connector", "datagen"), (key, value)]);
        let described = connector("datagen").describe(&wrong, &context());
        if key == "late.by" {
            // Without a ratio nothing is delayed.
            assert!(described.is_ok());
            let mut wrong = wrong;
            wrong.options.set("late.ratio", "0.1");
            let error = message(connector("datagen").describe(&wrong, &context()));
            assert!(error.contains("hold back too many rows"), "{error}");
            continue;
        }
        let error = message(described);
        for part in parts {
            assert!(error.contains(part), "{key}: {part} in {error}");
        }
    }
    let mut keyed = changelog("10");
    keyed.options.remove("fields.order_id.kind");
    assert!(message(connector("datagen").describe(&keyed, &context())).contains("'fields.order_id.kind' = 'sequence'"));
    let mut delayed = changelog("10");
    delayed.options.set("disorder.max", "1 s");
    assert!(message(connector("datagen").describe(&delayed, &context())).contains("'disorder.max'"));
}

#[tokio::test]
async fn a_sequence_with_an_end_ends_the_source() {
    let sequence = table(
        "a INT | b STRING",
        &[
            ("connector", "datagen"),
            ("fields.a.kind", "sequence"),
            ("fields.a.start", "5"),
            ("fields.a.end", "7"),
            ("fields.b.format", "%d%%"),
            ("fields.b.max", "9"),
            ("rows-per-second", "1e9"),
        ],
    );
    assert!(connector("datagen").describe(&sequence, &context()).unwrap().source.unwrap().bounded);
    let rows = rows(&generate(&sequence, 1, 10).await);
    assert_eq!(rows.iter().map(|row| &row[..5]).collect::<Vec<_>>(), ["+I[5,", "+I[6,", "+I[7,"]);
    assert!(rows.iter().all(|row| row.ends_with("%]")));
}
