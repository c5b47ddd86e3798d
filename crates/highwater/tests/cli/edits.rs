//! Scripts that are edited between two runs: state is taken over by columns, and the result is that of the edited script run
//! from the beginning.

use crate::program::{Program, rows};
use std::collections::BTreeMap;

/// Rows of each source in all.
const LAST: u64 = 6_000;
/// How many come in a second. It is part of what a source is.
const RATE: &str = "1500";

/// A query before and after an edit: the columns of its table, and what it selects.
struct Edit {
    /// The table, which the messages of its job name.
    table: &'static str,
    /// Columns with types, and the query.
    before: [&'static str; 2],
    after: [&'static str; 2],
    /// What is said of it.
    says: &'static str,
}

/// Streams of numbered rows. Those of `p` meet those of `o` from the other end, and nearby ones by `near`; `versions` are of
/// other users than the rows of `r` at the same time.
fn sources(rate: &str) -> String {
    let table = |name: &str, more: &str, readers: &str| {
        format!(
            "CREATE TABLE {name} (id BIGINT, u AS CAST(id % 7 AS INT), amount AS CAST(id * 31 % 100 AS INT),
                 note AS CONCAT('n', CAST(id % 11 AS STRING)), burst AS id / 50 % 3, near AS id % 100, {more}
                 ts AS TO_TIMESTAMP_LTZ(id * 10, 3), WATERMARK FOR ts AS ts)
             WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}', {readers} 'fields.id.kind' = 'sequence',
                   'fields.id.start' = '1', 'fields.id.end' = '{LAST}');\n"
        )
    };
    let one_reader = "'scan.parallelism' = '1',";
    [
        "SET 'execution.checkpointing.interval' = '200 ms';\n",
        &table("o", "", ""),
        &table("p", &format!("other AS {} - id,", LAST + 1), ""),
        &table("q", "turn AS CAST((id + 3) % 7 AS INT),", one_reader),
        &table("r", "", one_reader),
        "CREATE TEMPORARY VIEW versions AS SELECT turn, id AS version, note, amount, ts
             FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY turn ORDER BY ts DESC) AS r FROM q) WHERE r = 1;\n",
    ]
    .concat()
}

fn script(rate: &str, edits: &[Edit], is_after: bool) -> String {
    let mut text = sources(rate);
    for edit in edits {
        let [columns, query] = if is_after { edit.after } else { edit.before };
        let table = edit.table;
        text.push_str(&format!(
            "CREATE TABLE {table} ({columns}) WITH ('connector' = 'print', 'print-identifier' = '{table}');
             INSERT INTO {table} {query};\n"
        ));
    }
    text
}

/// The names of columns: `a INT, b STRING`.
fn names(columns: &str) -> Vec<&str> {
    columns.split(", ").filter_map(|column| column.split_whitespace().next()).collect()
}

/// A row as text, and how often it is there.
type Content = BTreeMap<String, i64>;

/// Applies the printed changes of a table: of its columns, those of `shown` are looked at.
fn apply(content: &mut Content, out: &str, table: &str, columns: &str, shown: &str) {
    let columns = names(columns);
    for line in out.lines() {
        let Some((prefix, row)) = line.split_once("> ") else { continue };
        if prefix.split(':').next() != Some(table) {
            continue;
        }
        let (kind, row) = row.split_once('[').expect("a row");
        let values: Vec<&str> = row.trim_end_matches(']').split(", ").collect();
        assert_eq!(values.len(), columns.len(), "{line}");
        let value = |name: &str| values[columns.iter().position(|known| *known == name).expect("a column")];
        let row: Vec<&str> = names(shown).into_iter().map(value).collect();
        *content.entry(row.join(", ")).or_default() += if matches!(kind, "+I" | "+U") { 1 } else { -1 };
    }
    content.retain(|_, count| *count != 0);
}

/// Runs the script in two pieces with the edit between them, at another parallelism, and compares each table with that of the
/// edited script run at once.
fn check(edits: &[Edit]) {
    let program = Program::new();
    program.write("job.sql", &script(RATE, edits, false));
    let mut running = program.start_into(&["run", "job.sql", "--parallelism", "2"], "first.txt");
    for job in 0..edits.len() {
        running.wait_until_job(job, "rows are read", |job| rows(job, "source", "rows_in") > LAST / 4);
    }
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    let first = std::fs::read_to_string(program.path("first.txt")).expect("output");
    program.write("job.sql", &script(RATE, edits, true));
    let second = program.run(&["run", "job.sql", "--parallelism", "3"]).exits(0);
    let whole = Program::new();
    whole.write("job.sql", &script("100000", edits, true));
    let whole = whole.run(&["run", "job.sql", "--parallelism", "1"]).exits(0);
    let notes: Vec<&str> = second.err.split("job ").collect();
    for Edit { table, before: [before, _], after: [after, _], says } in edits {
        let note = notes.iter().find(|note| note.starts_with(&format!("{table} goes on")));
        let note = note.unwrap_or_else(|| panic!("{table} does not go on: {}", second.err));
        assert!(note.contains(says), "no {says:?} of {table} in: {note}");
        let (mut pieces, mut expected) = (Content::new(), Content::new());
        apply(&mut pieces, &first, table, before, after);
        apply(&mut pieces, &second.out, table, after, after);
        apply(&mut expected, &whole.out, table, after, after);
        assert!(!expected.is_empty(), "{table}");
        assert_same(table, &pieces, &expected);
    }
}

/// Both have the same rows; else the first few that differ are shown.
fn assert_same(table: &str, pieces: &Content, expected: &Content) {
    let all = pieces.keys().chain(expected.keys());
    let differs = |row: &&String| pieces.get(*row) != expected.get(*row);
    let different: Vec<String> = all
        .filter(differs)
        .take(10)
        .map(|row| format!("[{row}] {:?} {:?}", pieces.get(row), expected.get(row)))
        .collect();
    assert!(different.is_empty(), "{table}, in two pieces and at once: {different:#?}");
}

#[test]
fn aggregates_lose_and_reorder_calls() {
    check(&[
        Edit {
            table: "totals",
            before: [
                "u INT, c BIGINT, s INT, d BIGINT, m BIGINT",
                "SELECT u, COUNT(*), SUM(amount), COUNT(DISTINCT note), MAX(id) FILTER (WHERE amount > 50) FROM o GROUP BY u",
            ],
            after: [
                "u INT, m BIGINT, d BIGINT, c BIGINT",
                "SELECT u, MAX(id) FILTER (WHERE amount > 50), COUNT(DISTINCT note), COUNT(*) FROM o GROUP BY u",
            ],
            says: ": without SUM(amount)",
        },
        Edit {
            table: "counts",
            before: [
                "c BIGINT, users BIGINT, last BIGINT",
                "SELECT c, COUNT(*), MAX(m) FROM (SELECT near, COUNT(*) AS c, MAX(id) AS m FROM o GROUP BY near) GROUP BY c",
            ],
            after: [
                "c BIGINT, users BIGINT",
                "SELECT c, COUNT(*) FROM (SELECT near, COUNT(*) AS c FROM o GROUP BY near) GROUP BY c",
            ],
            says: ": without MAX(m)",
        },
        Edit {
            table: "tumbling",
            before: [
                "w TIMESTAMP(3), u INT, c BIGINT, s INT, d BIGINT",
                "SELECT window_start, u, COUNT(*), SUM(amount), COUNT(DISTINCT note)
                     FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, u",
            ],
            after: [
                "w TIMESTAMP(3), u INT, d BIGINT, c BIGINT",
                "SELECT window_start, u, COUNT(DISTINCT note), COUNT(*)
                     FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, u",
            ],
            says: ": without SUM(amount)",
        },
        Edit {
            table: "hopping",
            before: [
                "w TIMESTAMP(3), u INT, c BIGINT, s INT, m INT, d BIGINT",
                "SELECT window_start, u, COUNT(*), SUM(amount), MAX(amount), COUNT(DISTINCT note)
                     FROM TABLE(HOP(TABLE o, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
                     GROUP BY window_start, window_end, u",
            ],
            after: [
                "w TIMESTAMP(3), u INT, m INT, c BIGINT",
                "SELECT window_start, u, MAX(amount), COUNT(*)
                     FROM TABLE(HOP(TABLE o, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
                     GROUP BY window_start, window_end, u",
            ],
            says: ": without SUM(amount), without COUNT(DISTINCT note)",
        },
        Edit {
            table: "cumulating",
            before: [
                "w TIMESTAMP(3), u INT, c BIGINT, m INT",
                "SELECT window_end, u, COUNT(*), MAX(amount)
                     FROM TABLE(CUMULATE(TABLE o, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
                     GROUP BY window_start, window_end, u",
            ],
            after: [
                "w TIMESTAMP(3), u INT, m INT",
                "SELECT window_end, u, MAX(amount)
                     FROM TABLE(CUMULATE(TABLE o, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
                     GROUP BY window_start, window_end, u",
            ],
            says: ": without COUNT(*)",
        },
        Edit {
            table: "sessions",
            before: [
                "w TIMESTAMP(3), b BIGINT, c BIGINT, s INT",
                "SELECT window_start, burst, COUNT(*), SUM(amount)
                     FROM TABLE(SESSION(TABLE o PARTITION BY burst, DESCRIPTOR(ts), INTERVAL '0.8' SECOND))
                     GROUP BY window_start, window_end, burst",
            ],
            after: [
                "w TIMESTAMP(3), b BIGINT, s INT",
                "SELECT window_start, burst, SUM(amount)
                     FROM TABLE(SESSION(TABLE o PARTITION BY burst, DESCRIPTOR(ts), INTERVAL '0.8' SECOND))
                     GROUP BY window_start, window_end, burst",
            ],
            says: ": without COUNT(*)",
        },
    ]);
}

#[test]
fn over_windows_lose_calls_and_columns() {
    check(&[
        Edit {
            table: "framed",
            before: [
                "id BIGINT, note STRING, s INT, m INT, c BIGINT",
                "SELECT id, note, SUM(amount) OVER w, MIN(amount) OVER w, COUNT(*) OVER w FROM o
                     WINDOW w AS (PARTITION BY u ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)",
            ],
            after: [
                "id BIGINT, c BIGINT, m INT",
                "SELECT id, COUNT(*) OVER w, MIN(amount) OVER w FROM o
                     WINDOW w AS (PARTITION BY u ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)",
            ],
            says: "without SUM(amount)",
        },
        Edit {
            table: "growing",
            before: [
                "id BIGINT, s INT, d BIGINT",
                "SELECT id, SUM(amount) OVER w, COUNT(DISTINCT note) OVER w FROM o
                     WINDOW w AS (PARTITION BY u ORDER BY ts)",
            ],
            after: [
                "id BIGINT, s INT",
                "SELECT id, SUM(amount) OVER w FROM o WINDOW w AS (PARTITION BY u ORDER BY ts)",
            ],
            says: "without COUNT(DISTINCT note)",
        },
        Edit {
            table: "ordered",
            before: [
                "near BIGINT, m BIGINT, s BIGINT, c BIGINT",
                "SELECT near, m, SUM(m) OVER w, COUNT(*) OVER w
                     FROM (SELECT near, u, MAX(id) AS m FROM o GROUP BY near, u)
                     WINDOW w AS (PARTITION BY u ORDER BY near)",
            ],
            after: [
                "near BIGINT, m BIGINT, s BIGINT",
                "SELECT near, m, SUM(m) OVER w FROM (SELECT near, u, MAX(id) AS m FROM o GROUP BY near, u)
                     WINDOW w AS (PARTITION BY u ORDER BY near)",
            ],
            says: "without COUNT(*)",
        },
    ]);
}

#[test]
fn joins_carry_fewer_columns() {
    check(&[
        Edit {
            table: "inner_join",
            before: [
                "id BIGINT, amount INT, note STRING, u INT",
                "SELECT o.id, o.amount, p.note, p.u FROM o JOIN p ON o.id = p.other",
            ],
            after: ["u INT, id BIGINT", "SELECT p.u, o.id FROM o JOIN p ON o.id = p.other"],
            says: "without amount, without note",
        },
        Edit {
            table: "left_join",
            before: [
                "near BIGINT, c BIGINT, m BIGINT, id BIGINT",
                "SELECT a.near, a.c, a.m, b.id FROM (SELECT near, COUNT(*) AS c, MAX(id) AS m FROM o GROUP BY near) a
                     LEFT JOIN (SELECT * FROM p WHERE id % 10 = 0) b ON a.near = b.other",
            ],
            after: [
                "near BIGINT, c BIGINT",
                "SELECT a.near, a.c FROM (SELECT near, COUNT(*) AS c FROM o GROUP BY near) a
                     LEFT JOIN (SELECT * FROM p WHERE id % 10 = 0) b ON a.near = b.other",
            ],
            says: "without m",
        },
        Edit {
            table: "copies",
            before: [
                "c BIGINT, m BIGINT, id BIGINT",
                "SELECT a.c, a.m, b.id FROM (SELECT c, m FROM (SELECT near, COUNT(*) AS c, MIN(id) AS m FROM o GROUP BY near)) a
                     JOIN p b ON a.c = b.id",
            ],
            after: [
                "c BIGINT, id BIGINT",
                "SELECT a.c, b.id FROM (SELECT c FROM (SELECT near, COUNT(*) AS c FROM o GROUP BY near)) a
                     JOIN p b ON a.c = b.id",
            ],
            says: "without m",
        },
        Edit {
            table: "near_join",
            before: [
                "id BIGINT, mate BIGINT, note STRING",
                "SELECT o.id, p.id, p.note FROM o JOIN p ON o.near = p.near
                     AND o.ts BETWEEN p.ts - INTERVAL '2' SECOND AND p.ts + INTERVAL '2' SECOND",
            ],
            after: [
                "mate BIGINT, id BIGINT",
                "SELECT p.id, o.id FROM o JOIN p ON o.near = p.near
                     AND o.ts BETWEEN p.ts - INTERVAL '2' SECOND AND p.ts + INTERVAL '2' SECOND",
            ],
            says: "without note",
        },
    ]);
}

#[test]
fn what_waits_for_time_loses_columns() {
    check(&[
        Edit {
            table: "window_join",
            before: [
                "id BIGINT, mate BIGINT, note STRING",
                "SELECT l.id, r.id, r.note
                     FROM (SELECT * FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND))) l
                     LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '5' SECOND))) r
                     ON l.id = r.id + 1 AND l.window_start = r.window_start AND l.window_end = r.window_end",
            ],
            after: [
                "mate BIGINT, id BIGINT",
                "SELECT r.id, l.id
                     FROM (SELECT * FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND))) l
                     LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '5' SECOND))) r
                     ON l.id = r.id + 1 AND l.window_start = r.window_start AND l.window_end = r.window_end",
            ],
            says: "without note",
        },
        Edit {
            table: "window_top",
            before: [
                "u INT, id BIGINT, note STRING",
                "SELECT u, id, note FROM (SELECT *, ROW_NUMBER() OVER
                         (PARTITION BY window_start, window_end, u ORDER BY amount DESC, id) AS r
                     FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE r <= 2",
            ],
            after: [
                "u INT, id BIGINT",
                "SELECT u, id FROM (SELECT *, ROW_NUMBER() OVER
                         (PARTITION BY window_start, window_end, u ORDER BY amount DESC, id) AS r
                     FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE r <= 2",
            ],
            says: "without note",
        },
        Edit {
            table: "of_versions",
            before: [
                "id BIGINT, version BIGINT, note STRING",
                "SELECT r.id, v.version, v.note
                     FROM r LEFT JOIN versions FOR SYSTEM_TIME AS OF r.ts AS v ON r.u = v.turn",
            ],
            after: [
                "version BIGINT, id BIGINT",
                "SELECT v.version, r.id FROM r LEFT JOIN versions FOR SYSTEM_TIME AS OF r.ts AS v ON r.u = v.turn",
            ],
            says: "without note",
        },
        Edit {
            table: "in_sessions",
            before: [
                "w TIMESTAMP(3), id BIGINT, note STRING",
                "SELECT window_start, id, note
                     FROM TABLE(SESSION(TABLE o PARTITION BY burst, DESCRIPTOR(ts), INTERVAL '0.8' SECOND))",
            ],
            after: [
                "id BIGINT, w TIMESTAMP(3)",
                "SELECT id, window_start
                     FROM TABLE(SESSION(TABLE o PARTITION BY burst, DESCRIPTOR(ts), INTERVAL '0.8' SECOND))",
            ],
            says: "without note",
        },
        Edit {
            table: "in_order",
            before: ["id BIGINT, note STRING, amount INT", "SELECT id, note, amount FROM o ORDER BY ts"],
            after: ["amount INT, id BIGINT", "SELECT amount, id FROM o ORDER BY ts"],
            says: "goes on",
        },
    ]);
}

#[test]
fn rows_that_are_kept_lose_columns() {
    check(&[
        Edit {
            table: "latest",
            before: [
                "u INT, id BIGINT, amount INT",
                "SELECT u, id, amount FROM
                     (SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY ts DESC) AS r FROM o) WHERE r = 1",
            ],
            after: [
                "u INT, id BIGINT",
                "SELECT u, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY ts DESC) AS r FROM o) WHERE r = 1",
            ],
            says: "without amount",
        },
        Edit {
            table: "first_ones",
            before: [
                "near BIGINT, id BIGINT, note STRING",
                "SELECT near, id, note FROM
                     (SELECT *, ROW_NUMBER() OVER (PARTITION BY near ORDER BY ts) AS r FROM o) WHERE r = 1",
            ],
            after: [
                "near BIGINT, id BIGINT",
                "SELECT near, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY near ORDER BY ts) AS r FROM o) WHERE r = 1",
            ],
            says: "goes on",
        },
        Edit {
            table: "top",
            before: [
                "u INT, id BIGINT, amount INT, note STRING",
                "SELECT u, id, amount, note FROM
                     (SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY amount DESC, id DESC) AS r FROM o) WHERE r <= 3",
            ],
            after: [
                "u INT, id BIGINT",
                "SELECT u, id FROM
                     (SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY amount DESC, id DESC) AS r FROM o) WHERE r <= 3",
            ],
            says: "without note",
        },
        Edit {
            table: "top_counts",
            before: [
                "near BIGINT, s INT, m BIGINT",
                "SELECT near, s, m FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, near) AS r
                     FROM (SELECT near, SUM(amount) AS s, MAX(id) AS m FROM o GROUP BY near)) WHERE r <= 5",
            ],
            after: [
                "near BIGINT, s INT",
                "SELECT near, s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, near) AS r
                     FROM (SELECT near, SUM(amount) AS s FROM o GROUP BY near)) WHERE r <= 5",
            ],
            says: "without m",
        },
    ]);
}

/// Runs `before` for a while, then `after` with these arguments; gives what the second run said and wrote.
fn rerun(program: &Program, before: &str, after: &str, arguments: &[&str]) -> crate::program::Ran {
    program.write("job.sql", before);
    let mut running = program.start_into(&["run", "job.sql", "--parallelism", "2"], "first.txt");
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > LAST / 4);
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    program.write("job.sql", after);
    program.run(&[&["run", "job.sql"], arguments].concat())
}

/// The last row of each key, which is the first column, that was printed for a table.
fn last(out: &str, table: &str) -> BTreeMap<String, String> {
    let mut last = BTreeMap::new();
    for line in out.lines() {
        let (prefix, row) = line.split_once("> ").expect("a table");
        let (kind, row) = row.split_once('[').expect("a row");
        let (key, values) = row.trim_end_matches(']').split_once(", ").expect("values");
        if prefix.split(':').next() == Some(table) && matches!(kind, "+I" | "+U") {
            last.insert(key.to_string(), values.to_string());
        }
    }
    last
}

/// What the script gives at once.
fn at_once(script: &str) -> String {
    let program = Program::new();
    program.write("job.sql", &script.replace(&format!("'{RATE}'"), "'100000'"));
    program.run(&["run", "job.sql", "--parallelism", "1"]).exits(0).out
}

#[test]
fn calls_are_derived_from_what_others_keep() {
    let program = Program::new();
    let script = |[sums, parts]: [&str; 2], [sums_columns, parts_columns]: [&str; 2]| {
        format!(
            "{}CREATE TABLE sums ({sums_columns}) WITH ('connector' = 'print', 'print-identifier' = 'sums');
             CREATE TABLE parts ({parts_columns}) WITH ('connector' = 'print', 'print-identifier' = 'parts');
             EXECUTE STATEMENT SET BEGIN
                 INSERT INTO sums SELECT u, {sums} FROM o GROUP BY u;
                 INSERT INTO parts SELECT g, {parts}
                     FROM (SELECT near, near % 5 AS g, MAX(id) AS m FROM o GROUP BY near) GROUP BY g;
             END;",
            sources(RATE)
        )
    };
    let before = script(["SUM(amount)", "MAX(m)"], ["u INT, s INT", "g BIGINT, m BIGINT"]);
    let after = script(
        ["COUNT(amount), AVG(amount), SUM(amount)", "COUNT(*), MAX(m)"],
        ["u INT, c BIGINT, a INT, s INT", "g BIGINT, c BIGINT, m BIGINT"],
    );
    let ran = rerun(&program, &before, &after, &["--parallelism", "3"]).exits(0);
    let whole = at_once(&after);
    for table in ["sums", "parts"] {
        assert_eq!(last(&ran.out, table), last(&whole, table));
    }
    ran.says(&["migrated: group aggregate", "0 begin without"]);
}

/// A statement set with two queries: the counts by user, and another.
fn counts_and(rate: &str, other: &str, columns: &str) -> String {
    format!(
        "{}CREATE TABLE counts (u INT, c BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'counts');
         CREATE TABLE others ({columns}) WITH ('connector' = 'blackhole');
         EXECUTE STATEMENT SET BEGIN
             INSERT INTO counts SELECT u, COUNT(*) FROM o GROUP BY u;
             INSERT INTO others {other};
         END;",
        sources(rate)
    )
}

/// The counts by user at the end.
fn all_counted(out: &str) -> bool {
    let mut last = BTreeMap::new();
    for line in out.lines().filter_map(|line| line.split_once("> +")) {
        let (user, count) = line.1.trim_end_matches(']')[2..].split_once(", ").expect("two values");
        last.insert(user.to_string(), count.parse::<u64>().expect("a count"));
    }
    last.values().sum::<u64>() == LAST
}

#[test]
fn what_another_query_reads_and_how_long_state_lives_changes_nothing() {
    let program = Program::new();
    let before = counts_and(RATE, "SELECT id FROM o", "id BIGINT");
    let after = counts_and(RATE, "SELECT id, note FROM o WHERE amount > 3", "id BIGINT, note STRING")
        .replace("FOR ts AS ts", "FOR ts AS ts - INTERVAL '1' SECOND");
    let after = format!("SET 'table.exec.state.ttl' = '2 d'; {after}");
    let ran = rerun(&program, &before, &after, &["--parallelism", "3"]).exits(0);
    assert!(all_counted(&ran.out), "{}", ran.out);
    ran.says(&["HW-L010", "2 operator(s) keep their state, 0 begin without"]);
}

#[test]
fn an_operator_is_found_when_another_like_it_comes() {
    let program = Program::new();
    let before = counts_and(RATE, "SELECT id FROM o", "id BIGINT");
    let after = counts_and(RATE, "SELECT u, COUNT(DISTINCT note) FROM o GROUP BY u", "u INT, c BIGINT");
    let ran = rerun(&program, &before, &after, &[]).exits(0);
    assert!(all_counted(&ran.out), "{}", ran.out);
    ran.says(&["HW-L010", "new: group aggregate", "kept: group aggregate", "kept: source o"]);
}

#[test]
fn a_call_without_state_is_named() {
    let program = Program::new();
    let query = |select: &str, columns: &str| {
        let sources = sources(RATE);
        format!("{sources}CREATE TABLE t ({columns}) WITH ('connector' = 'print'); INSERT INTO t {select};")
    };
    let before = query("SELECT u, COUNT(*), SUM(amount) FROM o GROUP BY u", "u INT, c BIGINT, s INT");
    let after = query(
        "SELECT u, COUNT(*), MIN(id), COUNT(DISTINCT note) FROM o GROUP BY u",
        "u INT, c BIGINT, m BIGINT, d BIGINT",
    );
    let refused = rerun(&program, &before, &after, &[]).exits(2);
    let list: Vec<&str> =
        refused.err.lines().filter_map(|line| line.trim().split_once(": ")).map(|(_, line)| line).collect();
    let group = list.iter().find(|line| line.starts_with("group aggregate")).expect("a line");
    assert!(group.ends_with("): no saved state of MIN(id), no saved state of COUNT(DISTINCT note)"), "{group}");
    refused.says(&[
        "HW-R006",
        "1 saved state(s)",
        "changed: group aggregate (group-",
        "kept: source o",
        "a script of its own",
    ]);
    // Other keys or rows are another operator, or compute something else.
    program.write(
        "job.sql",
        &query("SELECT u, COUNT(*), SUM(amount) FROM o WHERE id > 3 GROUP BY u", "u INT, c BIGINT, s INT"),
    );
    program.run(&["run", "job.sql"]).exits(2).says(&["its input, keys or conditions are others"]);
    program.write("job.sql", &query("SELECT near, COUNT(*) FROM o GROUP BY near", "near BIGINT, c BIGINT"));
    program.run(&["run", "job.sql"]).exits(2).says(&["dropped: group aggregate", "new: group aggregate"]);
}

#[test]
fn columns_of_a_join_get_wider() {
    let program = Program::new();
    let script = |rate: &str, kind: &str, select: &str, columns: &str| {
        format!(
            "{}CREATE TABLE f (id BIGINT, v {kind}) WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}',
                 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{LAST}',
                 'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '{LAST}');
             CREATE TABLE t ({columns}) WITH ('connector' = 'print', 'print-identifier' = 't');
             INSERT INTO t SELECT {select} FROM f JOIN p ON f.id = p.other;",
            sources(rate)
        )
    };
    let before = script(RATE, "INT", "f.id, f.v, p.note", "id BIGINT, v INT, note STRING");
    let after = script(RATE, "BIGINT", "f.id, f.v", "id BIGINT, v BIGINT");
    let ran = rerun(&program, &before, &after, &["--parallelism", "3"]).exits(0);
    let is_right = |line: &str| {
        let (id, value) = line.split_once("+I[").expect("a row").1.trim_end_matches(']').split_once(", ").expect("two");
        id == value
    };
    assert!(ran.out.lines().count() > LAST as usize / 4 && ran.out.lines().all(is_right), "{}", ran.out);
    ran.says(&["migrated: join", "v: INT to BIGINT", "without note"]);
    // Back again is no way.
    let narrow = script(RATE, "INT", "f.id, f.v", "id BIGINT, v INT");
    let other = Program::new();
    rerun(&other, &after, &narrow, &[]).exits(2).says(&["HW-R006", "v: INT, saved as BIGINT"]);
}

#[test]
fn a_savepoint_begins_an_edited_script() {
    let program = Program::new();
    let script = |rate: &str, select: &str, columns: &str| {
        format!(
            "{}CREATE TABLE t ({columns}) WITH ('connector' = 'print', 'print-identifier' = 't');
             INSERT INTO t SELECT {select} FROM o GROUP BY u;",
            sources(rate)
        )
    };
    program.write("job.sql", &script(RATE, "u, COUNT(*), SUM(amount)", "u INT, c BIGINT, s INT"));
    let mut running = program.start_into(&["run", "job.sql", "--parallelism", "2"], "first.txt");
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > LAST / 4);
    running.end_of_job(&["stop", "--savepoint-path", "saved"]);
    program.write("edited.sql", &script(RATE, "u, COUNT(*)", "u INT, c BIGINT"));
    let ran = program.run(&["run", "edited.sql", "--from", "saved", "--parallelism", "3"]).exits(0);
    assert!(all_counted(&ran.out), "{}", ran.out);
    ran.says(&["HW-L010", "migrated: group aggregate", "without SUM(amount)"]);
    // With a budget for memory, the state is migrated as it is put away.
    let budgeted = script(RATE, "u, COUNT(*)", "u INT, c BIGINT");
    program.write("budgeted.sql", &format!("SET 'state.memory.budget' = '1 mb'; {budgeted}"));
    let ran = program.run(&["run", "budgeted.sql", "--from", "saved"]).exits(0);
    assert!(all_counted(&ran.out), "{}", ran.out);
    // A query more in the same job finds the state of the other.
    let set = script(RATE, "u, COUNT(*)", "u INT, c BIGINT")
        .replace("INSERT INTO", "EXECUTE STATEMENT SET BEGIN INSERT INTO");
    let set = format!(
        "CREATE TABLE more (u INT, m BIGINT) WITH ('connector' = 'blackhole');
         {set} INSERT INTO more SELECT u, MAX(id) FROM o GROUP BY u; END;"
    );
    program.write("set.sql", &set);
    let ran = program.run(&["run", "set.sql", "--from", "saved"]).exits(0);
    assert!(all_counted(&ran.out), "{}", ran.out);
    ran.says(&["migrated: group aggregate", "new: group aggregate", "kept: source o"]);
    program.write("edited.sql", &script(RATE, "u, COUNT(*), MAX(id)", "u INT, c BIGINT, m BIGINT"));
    let refused = program.run(&["run", "edited.sql", "--from", "saved", "--fresh"]).exits(2);
    refused.says(&["HW-R006", "no saved state of MAX(id)"]);
}
