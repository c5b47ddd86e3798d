//! Lookups: what is asked for, what is kept.

use super::*;
use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use base::BoxFuture;
use base::ChangelogMode;
use base::connector::Instance;
use base::lookup::{LookupProvider, LookupRows};
use base::types::{Field, LogicalType, RowType};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A table `k -> 10 k, 10 k + 1` for even keys; says what it was asked for.
#[derive(Debug, Clone, Default)]
struct Even {
    asked: Arc<Mutex<Vec<i64>>>,
    cache: Option<LookupCache>,
    /// Keys are not there before they have been asked for so often.
    slow: usize,
}

impl LookupProvider for Even {
    fn reader(&self, _instance: Instance) -> Result<Box<dyn LookupReader>> {
        Ok(Box::new(self.clone()))
    }

    fn cache(&self) -> Option<LookupCache> {
        self.cache
    }
}

impl LookupReader for Even {
    fn lookup<'a>(&'a mut self, keys: &'a RecordBatch) -> BoxFuture<'a, Result<LookupRows>> {
        Box::pin(async move {
            let mut asked = self.asked.lock().unwrap();
            let (mut values, mut of) = (Vec::new(), Vec::new());
            for (at, key) in keys.column(0).as_primitive::<Int64Type>().values().iter().enumerate() {
                let before = asked.iter().filter(|other| *other == key).count();
                asked.push(*key);
                if key % 2 == 0 && before >= self.slow {
                    values.extend([key * 10, key * 10 + 1]);
                    of.extend([at as u32, at as u32]);
                }
            }
            let row = row(&["v"]);
            let rows = RecordBatch::try_new(row.arrow().clone(), vec![Arc::new(Int64Array::from(values))])?;
            Ok(LookupRows { rows, keys: of })
        })
    }
}

fn row(names: &[&str]) -> RowType {
    RowType::new(names.iter().map(|name| Field::new(name.to_string(), LogicalType::BigInt.nullable())).collect())
}

fn output(names: &[&str]) -> Output {
    Output { row: row(names), changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() }
}

fn body(table: &Even, is_outer: bool, retry: Option<LookupRetry>) -> LookupBody {
    let node = LookupJoin {
        table: "even".into(),
        provider: Arc::new(table.clone()),
        is_outer,
        keys: vec![0],
        key_names: vec!["k".into()],
        condition: None,
        retry,
    };
    let reader = table.reader(Instance { index: 0, parallelism: 1 }).unwrap();
    LookupBody::new(&node, &output(&["k"]), &output(&["k", "v"]), reader).unwrap()
}

async fn join(body: &mut LookupBody, keys: &[Option<i64>], now_ms: i64) -> Vec<(Option<i64>, Option<i64>)> {
    let column: ArrayRef = Arc::new(Int64Array::from(keys.to_vec()));
    let records = RecordBatch::try_new(row(&["k"]).arrow().clone(), vec![column]).unwrap();
    let Some(batch) = body.join(&ChangelogBatch::inserts(records), now_ms).await.unwrap() else { return Vec::new() };
    let column = |index: usize| batch.records().column(index).as_primitive::<Int64Type>().iter().collect::<Vec<_>>();
    column(0).into_iter().zip(column(1)).collect()
}

#[tokio::test]
async fn a_key_is_asked_for_once_per_batch_and_null_never() {
    let table = Even::default();
    let mut inner = body(&table, false, None);
    let rows = join(&mut inner, &[Some(2), None, Some(3), Some(2)], 0).await;
    let two = [(Some(2), Some(20)), (Some(2), Some(21))];
    assert_eq!(rows, [two, two].concat());
    assert_eq!(*table.asked.lock().unwrap(), [2, 3]);
    let mut outer = body(&table, true, None);
    let rows = join(&mut outer, &[None, Some(3), Some(2)], 0).await;
    assert_eq!(rows, [vec![(None, None), (Some(3), None)], two.to_vec()].concat());
    assert_eq!(join(&mut outer, &[None, Some(1)], 0).await, [(None, None), (Some(1), None)]);
}

#[tokio::test]
async fn rows_are_kept_as_long_as_the_options_say() {
    let rules = LookupCache {
        rows_max: Some(3),
        after_write: Some(Duration::from_millis(100)),
        after_access: Some(Duration::from_millis(40)),
        keeps_missing: true,
    };
    let table = Even { cache: Some(rules), ..Even::default() };
    let mut body = body(&table, true, None);
    let asked = || std::mem::take(&mut *table.asked.lock().unwrap());
    join(&mut body, &[Some(2), Some(3)], 0).await;
    assert_eq!(asked(), [2, 3]);
    let rows = join(&mut body, &[Some(3), Some(2)], 39).await;
    assert_eq!(rows, [(Some(3), None), (Some(2), Some(20)), (Some(2), Some(21))]);
    assert_eq!(asked(), [] as [i64; 0], "both are kept");
    join(&mut body, &[Some(2)], 78).await;
    assert_eq!(asked(), [] as [i64; 0], "2 was used 39 ms ago");
    join(&mut body, &[Some(3)], 79).await;
    assert_eq!(asked(), [3], "3 was used 40 ms ago");
    join(&mut body, &[Some(2)], 100).await;
    assert_eq!(asked(), [2], "2 was found 100 ms ago");
    join(&mut body, &[Some(4), Some(4)], 101).await;
    join(&mut body, &[Some(4), Some(2)], 102).await;
    assert_eq!(asked(), [4, 2], "there is no room for the rows of two keys");
}

#[tokio::test(start_paused = true)]
async fn keys_without_a_row_are_asked_for_again() {
    let table = Even { slow: 2, ..Even::default() };
    let retry = LookupRetry { attempts: 2, delay: Duration::from_secs(1) };
    let mut body = body(&table, true, Some(retry));
    let rows = join(&mut body, &[Some(1), Some(2)], 0).await;
    assert_eq!(rows, [(Some(1), None), (Some(2), Some(20)), (Some(2), Some(21))]);
    assert_eq!(*table.asked.lock().unwrap(), [1, 2, 1, 2, 1, 2]);
}
