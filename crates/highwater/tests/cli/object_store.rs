//! Checkpoints in an object store: what holds on the local disk holds there, and a second run on another machine is found
//! out before it has committed anything.

use crate::program::{Program, Ran};
use base::fault;
use serde_json::Value;
use testkit::services::s3::{ACCESS_KEY, BUCKET, SECRET_KEY};
use testkit::services::{Kafka, Record, S3};

/// One store for all tests: their scripts have names of their own.
fn store() -> &'static S3 {
    static STORE: std::sync::OnceLock<S3> = std::sync::OnceLock::new();
    STORE.get_or_init(|| S3::launch().expect("a store"))
}

/// Where checkpoints go, as Flink's users write it.
fn at(store: &S3, prefix: &str, secret: &str) -> String {
    format!(
        "SET 'state.checkpoints.dir' = 's3a://{BUCKET}/{prefix}';
         SET 's3.endpoint' = '{}'; SET 's3.access-key' = '{ACCESS_KEY}'; SET 's3.secret-key' = '{secret}';
         SET 's3.path.style.access' = 'true'; SET 'execution.checkpointing.interval' = '200 ms';
         SET 'restart-strategy.exponential-delay.initial-backoff' = '100 ms';",
        store.address()
    )
}

/// Numbered rows, as fast as `rate` says, up to `last`, and how many there were in each thousand.
fn numbers(rate: u32, last: u32) -> String {
    format!(
        "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{last}');
         CREATE TABLE s (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '${{OUT}}', 'format' = 'json');
         CREATE TABLE p (k BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO s SELECT id FROM g;
         INSERT INTO p SELECT id / 1000, COUNT(*) FROM g GROUP BY id / 1000;
         END;"
    )
}

fn has_checkpoints(least: u64) -> impl Fn(&Value) -> bool {
    move |job| job["checkpoints"].as_u64() >= Some(least)
}

/// The objects of a script, as the names behind its folder.
fn objects(prefix: &str) -> Vec<String> {
    let keys = store().keys().into_iter();
    keys.filter_map(|key| Some(key.strip_prefix(&format!("{prefix}/"))?.to_string())).collect()
}

/// The keys of the store in the environment.
fn environment() -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", store().address()),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY.into()),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.into()),
    ]
}

fn run_in(program: &Program, variables: &[(&'static str, String)], arguments: &[&str]) -> Ran {
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    program.run_with(&variables, arguments)
}

#[test]
fn rows_are_there_once_however_often_the_program_is_killed() {
    let program = Program::new();
    program.write("killed.sql", &format!("{}{}", at(store(), "作业/kill", SECRET_KEY), numbers(2000, 8000)));
    let run = ["run", "killed.sql", "-D", "OUT=out", "--parallelism"];
    for parallelism in ["1", "3", "2"] {
        let mut running = program.start(&[&run[..], &[parallelism]].concat());
        running.wait_until("checkpoints are taken", has_checkpoints(3));
        running.kill();
        assert!(objects("作业/kill/killed/s_p").iter().any(|name| name.starts_with("checkpoint-")));
    }
    assert!(program.state_files("checkpoint-").is_empty(), "nothing of it is on the local disk");
    let ran = program.run(&[&run[..], &["1"]].concat()).exits(0).says(&["HW-L010", "goes on from checkpoint"]);
    assert_eq!(program.ids_below("out"), (1..=8000).collect::<Vec<_>>());
    for (thousand, count) in [(7, 1000), (8, 1)] {
        assert!(ran.out.contains(&format!("[{thousand}, {count}]\n")), "{}", ran.out);
    }
    assert_eq!(objects("作业/kill"), [""; 0], "a job that has ended keeps nothing");
    assert!(program.state_files("places").is_empty() && program.state_files("owner").is_empty());
    assert!(!ran.err.contains(SECRET_KEY));
}

/// Dead, or with an error, in every step of a checkpoint; then one run to the end.
#[test]
fn rows_are_there_once_whatever_step_it_dies_in() {
    let steps = [
        fault::CHECKPOINT_WRITE,
        fault::SEGMENT_CREATE,
        fault::SEGMENT_WRITE,
        fault::SEGMENT_SYNC,
        fault::MANIFEST_WRITE,
        fault::MANIFEST_RENAME,
        fault::MANIFEST_FOLDER_SYNC,
        fault::CHECKPOINT_REMOVE,
        fault::MERGE_READ,
        fault::MERGE_SYNC,
        fault::MERGE_ADOPT,
        fault::CHECKPOINT_COMMIT,
        fault::CHECKPOINT_DONE,
    ];
    let program = Program::new();
    let set = at(store(), "steps", SECRET_KEY);
    program.write("steps.sql", &format!("{set}{}", numbers(3000, 3000)));
    for step in steps {
        for action in ["kill", "fail"] {
            let fault = format!("{}@2={action}", step.name());
            let out = format!("OUT={fault}");
            let run = ["run", "steps.sql", "-D", &out, "--parallelism", "1"];
            let ran = program.run_with(&[(fault::VARIABLE, &fault)], &run);
            match action {
                "kill" => {
                    assert_eq!(ran.code, -1, "{fault} never happened: {}", ran.err);
                    program.run(&run).exits(0);
                }
                _ => drop(ran.exits(0)),
            }
            assert_eq!(program.ids_below(&fault), (1..=3000).collect::<Vec<_>>(), "{fault}");
            assert_eq!(objects("steps"), [""; 0], "{fault}");
        }
    }
}

#[test]
fn a_stopped_job_leaves_what_its_checkpoints_need_and_can_go_back() {
    let program = Program::new();
    let script = format!(
        "SET 'state.checkpoints.num-retained' = '3'; {}{}",
        at(store(), "stop", SECRET_KEY),
        numbers(1000, 1_000_000)
    );
    program.write("stopped.sql", &script);
    let run = ["run", "stopped.sql", "-D", "OUT=out", "--parallelism", "1"];
    let mut running = program.start(&run);
    let job = running.wait_until("checkpoints are taken", has_checkpoints(25));
    assert!(job["checkpoint_state_bytes"].as_u64() > job["last_checkpoint_bytes"].as_u64(), "{job}");
    running.end_of_job(&["stop"]);
    let kept = objects("stop/stopped/s_p");
    let manifests: Vec<&String> = kept.iter().filter(|name| name.starts_with("checkpoint-")).collect();
    assert_eq!(manifests.len(), 3, "{kept:?}");
    let named: String = manifests.iter().map(|name| object(&format!("stop/stopped/s_p/{name}"))).collect();
    let segments: Vec<&String> = kept.iter().filter(|name| name.starts_with("segment-")).collect();
    assert!(segments.iter().all(|name| named.contains(name.as_str())), "only what is needed: {kept:?}");
    assert!(!named.contains(SECRET_KEY) && !named.contains("geheim"));

    let epoch: u64 = manifests[0].split('-').nth(1).and_then(|number| number.parse().ok()).expect("a number");
    let mut back = program.start(&[&run[..], &["--checkpoint", &epoch.to_string()]].concat());
    back.wait_until("it goes on", has_checkpoints(1));
    back.end_of_job(&["stop"]).says(&["HW-L010", &format!("goes on from checkpoint {epoch}")]);
    let mut fresh = program.start(&[&run[..], &["--fresh"]].concat());
    let job = fresh.wait_until("it begins anew", has_checkpoints(1));
    assert!(job["resumed_from"].is_null(), "{job}");
    fresh.end_of_job(&["stop"]);
}

fn object(key: &str) -> String {
    std::fs::read_to_string(store().objects().join(key)).expect("an object")
}

#[test]
fn a_store_that_goes_away_for_a_while_costs_nothing_but_time() {
    let program = Program::new();
    let store = S3::launch().expect("a store of its own");
    program.write("away.sql", &format!("{}{}", at(&store, "away", SECRET_KEY), numbers(1000, 12_000)));
    let mut running = program.start(&["run", "away.sql", "-D", "OUT=out"]);
    running.wait_until("checkpoints are taken", has_checkpoints(2));
    store.stop().expect("stopped");
    running.wait_until("a checkpoint fails", |job| job["failed_checkpoints"].as_u64() > Some(0));
    store.start().expect("started again");
    running.end().exits(0).says(&["HW-R008", "s3://checkpoints/away", "does not answer"]);
    assert_eq!(program.ids_below("out"), (1..=12_000).collect::<Vec<_>>());
    assert_eq!(store.keys(), [""; 0]);
}

/// Two machines, a store and a Kafka that both reach: whatever each of them does, readers see every row once.
#[test]
fn of_two_runs_the_newest_goes_on_and_no_row_is_lost_or_doubled() {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic("twice", 1, &[]).expect("a topic");
    let seen = || {
        let id = |record: &Record| serde_json::from_slice::<Value>(record.value.as_ref()?).ok()?["id"].as_u64();
        let mut ids: Vec<u64> = client.read("twice").expect("records").iter().filter_map(id).collect();
        ids.sort_unstable();
        ids
    };
    let script = format!(
        "SET 'pipeline.name' = 'twice'; {}
         CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '1000000');
         CREATE TABLE s (id BIGINT) WITH ('connector' = 'kafka', 'format' = 'json', 'topic' = 'twice',
             'properties.bootstrap.servers' = '{}', 'sink.delivery-guarantee' = 'exactly-once',
             'sink.transactional-id-prefix' = 'twice');
         INSERT INTO s SELECT id FROM g;",
        at(store(), "twice", SECRET_KEY),
        kafka.address()
    );
    let programs = [Program::new(), Program::new()];
    programs.iter().for_each(|program| drop(program.write("twice.sql", &script)));
    let run = ["run", "twice.sql", "--parallelism", "1"];
    for round in 0..4 {
        let mut first = programs[round % 2].start(&run);
        first.wait_until("checkpoints are taken", has_checkpoints(2));
        let mut newest = programs[1 - round % 2].start(&run);
        // The store finds it out, or Kafka.
        let outrun = first.end().exits(1);
        assert!(outrun.err.contains("HW-X109") || outrun.err.contains("HW-C095"), "{}", outrun.err);
        newest.wait_until("the newest goes on", has_checkpoints(2));
        newest.end_of_job(&["stop"]).says(&["HW-L010"]);
        let ids = seen();
        assert!(ids.len() > 100);
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "round {round}");
    }
}

/// Without anything else that tells two runs apart, and without a checkpoint that they know.
#[test]
fn of_two_runs_that_begin_together_one_goes_on() {
    let script = format!(
        "SET 'pipeline.name' = 'together'; {}
         CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');
         CREATE TABLE s (id BIGINT, c BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole');
         INSERT INTO s SELECT id % 10, COUNT(*) FROM g GROUP BY id % 10;",
        at(store(), "together", SECRET_KEY)
    );
    let programs = [Program::new(), Program::new()];
    programs.iter().for_each(|program| drop(program.write("together.sql", &script)));
    for _ in 0..3 {
        let mut running = programs.each_ref().map(|program| program.start(&["run", "together.sql", "--fresh"]));
        let outrun = loop {
            if let Some(ended) = running.iter_mut().position(|one| !one.is_running()) {
                break ended;
            }
            std::thread::yield_now();
        };
        let ran = running[outrun].end();
        // Before it has begun, or at its first checkpoint.
        assert!(ran.code == 1 || ran.code == 2, "{}", ran.err);
        ran.says(&["HW-X109", "s3://checkpoints/together/together/s", "pipeline.name"]);
        running[1 - outrun].wait_until("the other one goes on", has_checkpoints(3));
        running[1 - outrun].end_of_job(&["stop"]);
    }
}

/// A script that cannot go on takes nothing from one that runs.
#[test]
fn a_start_that_is_refused_leaves_the_other_run_alone() {
    let script = |query: &str| {
        format!(
            "SET 'pipeline.name' = 'refused'; {}
             CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');
             CREATE TABLE s (id BIGINT, c BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole');
             INSERT INTO s SELECT id % 10, {query} FROM g GROUP BY id % 10;",
            at(store(), "refused", SECRET_KEY)
        )
    };
    let (program, other) = (Program::new(), Program::new());
    program.write("refused.sql", &script("COUNT(*)"));
    other.write("refused.sql", &script("SUM(id)"));
    let mut running = program.start(&["run", "refused.sql"]);
    let job = running.wait_until("checkpoints are taken", has_checkpoints(2));
    other.run(&["run", "refused.sql"]).exits(2).says(&["HW-R006"]);
    let least = job["checkpoints"].as_u64().unwrap_or_default() + 3;
    running.wait_until("it goes on", has_checkpoints(least));
    running.end_of_job(&["stop"]);
}

#[test]
fn saved_state_is_found_where_it_is() {
    let program = Program::new();
    let set = at(store(), "looked", SECRET_KEY);
    program.write("looked.sql", &format!("{set}{}", numbers(2000, 8000)));
    let run = ["run", "looked.sql", "-D", "OUT=out", "--parallelism", "1"];
    let mut running = program.start(&run);
    running.wait_until("state is saved", has_checkpoints(3));
    let savepoint = program.run(&["savepoint"]).exits(0).says(&["HW-L015"]).out.trim().to_string();
    let script = std::fs::read_to_string(format!("{savepoint}/script.sql")).expect("the script");
    assert!(script.contains("'s3.secret-key' = '***'") && !script.contains(SECRET_KEY), "{script}");
    running.end_of_job(&["stop"]);
    assert!(
        program
            .state_files("")
            .iter()
            .filter(|path| path.is_file())
            .all(|path| { !String::from_utf8_lossy(&std::fs::read(path).expect("a file")).contains(SECRET_KEY) })
    );

    let variables = environment();
    for of in ["looked", "s3://checkpoints/looked/looked", "s3a://checkpoints/looked/looked/s_p"] {
        let list = run_in(&program, &variables, &["state", "ls", of, "--json"]).exits(0);
        let list: Value = serde_json::from_str(&list.out).expect("json");
        assert_eq!(list["jobs"][0]["job"], "s_p");
        assert!(list["jobs"][0]["operators"][0]["tables"][0]["rows"].as_u64() > Some(0), "{list}");
    }
    let read = run_in(&program, &variables, &["state", "read", "looked", "--limit", "1"]).exits(0);
    assert!(read.out.contains("| "), "{}", read.out);
    let wrong = [variables[0].clone(), variables[1].clone(), ("AWS_SECRET_ACCESS_KEY", "wrong".into())];
    run_in(&program, &wrong, &["state", "ls"]).exits(2).says(&["HW-X107"]);
    run_in(&program, &variables, &["state", "ls", "s3://checkpoints/nowhere"]).exits(2).says(&["HW-L020"]);
    run_in(&program, &variables, &["state", "ls", "oss://checkpoints/nowhere"]).exits(2).says(&["HW-X105"]);

    // The savepoint is one moment, whatever came after it, and needs no store.
    let other = Program::new();
    other.write("looked.sql", &numbers(2000, 8000));
    let begun = ["run", "looked.sql", "-D", "OUT=out", "--from", &savepoint];
    let ran = other.run(&begun).exits(0).says(&["HW-L010"]);
    assert!(
        ran.out.contains("[7, 1000]") && ran.out.contains("[0, 999]") == (other.ids_below("out")[0] < 1000),
        "{}",
        ran.out
    );
    // State of its own is not overwritten.
    program.run(&[&run[..], &["--from", &savepoint]].concat()).exits(2).says(&["HW-L018", "s3://checkpoints/looked"]);
}

#[test]
fn jobs_that_a_script_does_not_have_any_more_are_missed() {
    let program = Program::new();
    let two = format!(
        "{}CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');
         CREATE TABLE a (id BIGINT) WITH ('connector' = 'blackhole');
         CREATE TABLE b (id BIGINT) WITH ('connector' = 'blackhole');
         INSERT INTO a SELECT id FROM g;",
        at(store(), "gone", SECRET_KEY)
    );
    program.write("gone.sql", &format!("{two} INSERT INTO b SELECT id FROM g;"));
    let mut running = program.start(&["run", "gone.sql"]);
    running.wait_until("one is saved", has_checkpoints(1));
    running.wait_until_job(1, "the other one is saved", has_checkpoints(1));
    running.end_of_job(&["stop"]);
    program.write("gone.sql", &two);
    program.run(&["run", "gone.sql"]).exits(2).says(&["s3://checkpoints/gone/gone/b"]);
    let mut running = program.start(&["run", "gone.sql", "--fresh"]);
    running.wait_until("it begins anew", has_checkpoints(1));
    running.end_of_job(&["stop"]);
    assert!(objects("gone/gone").iter().all(|name| name.starts_with("a/")));
}

#[test]
fn what_is_wrong_with_a_store_is_said() {
    let program = Program::new();
    let refused = |script: &str, parts: &[&str]| {
        program.write("wrong.sql", &format!("{script}{}", numbers(1000, 10)));
        let ran = program.run(&["run", "wrong.sql", "-D", "OUT=out"]).exits(2).says(parts);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
        assert!(!program.path("out").exists(), "nothing has begun");
    };
    let good = at(store(), "wrong", SECRET_KEY);
    refused(
        &at(store(), "wrong", "geheim"),
        &["HW-X107", "s3://checkpoints/wrong", "SignatureDoesNotMatch", "s3.secret-key"],
    );
    refused(
        &good
            .replace("SET 's3.access-key'", "RESET 's3.secret-key'; SET 's3.path-style-access'")
            .replace(&format!("'s3.path-style-access' = '{ACCESS_KEY}'"), "'s3.path-style-access' = 'true'"),
        &["HW-X107", "s3.access-key"],
    );
    refused(&good.replace("s3a://checkpoints", "s3a://nothing"), &["HW-X108", "s3://nothing/wrong"]);
    refused(
        &good.replace(&store().address(), "http://127.0.0.1:1"),
        &["HW-X106", "does not answer", "Connection refused"],
    );
    refused(&good.replace("s3a://", "oss://"), &["HW-X105", "s3://BUCKET/PREFIX", "s3.endpoint"]);
    program.write("wrong.sql", "SET 's3.secret-key' = 'geheim'; SET; SET 's3.secret-key' = 'geheim', nonsense;");
    let ran = program.run(&["run", "wrong.sql"]).exits(2);
    assert!(ran.out.contains("***") && !format!("{}{}", ran.out, ran.err).contains("geheim"), "{}{}", ran.out, ran.err);
}

#[test]
fn keys_come_from_the_environment_too() {
    let program = Program::new();
    let script = format!("SET 'state.checkpoints.dir' = 's3://{BUCKET}/env'; {}", numbers(100_000, 5000));
    program.write("env.sql", &script);
    run_in(&program, &environment(), &["run", "env.sql", "-D", "OUT=out"]).exits(0);
    assert_eq!(program.ids_below("out"), (1..=5000).collect::<Vec<_>>());
}

/// More than one part of an upload, and more than one request to read it.
#[test]
fn large_state_goes_up_in_parts_and_comes_back() {
    let program = Program::new();
    let mut rows = String::new();
    for row in 0..150_000_u64 {
        let word = row.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.push_str(&format!("{{\"k\":\"{}\"}}\n", format!("{word:020x}").repeat(12)));
    }
    program.write("in/keys.jsonl", &rows);
    let script = format!(
        "{}CREATE TABLE i (k STRING) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '100 ms');
         CREATE TABLE c (k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
         CREATE TABLE n (c BIGINT, PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'print');
         INSERT INTO n SELECT MAX(c) FROM (SELECT k, COUNT(*) AS c FROM i GROUP BY k);",
        at(store(), "large", SECRET_KEY)
    );
    program.write("large.sql", &script);
    let run = ["run", "large.sql", "--parallelism", "1"];
    let mut running = program.start(&run);
    running.wait_until("all of it is saved", |job| {
        job["nodes"][0]["rows_in"].as_u64() >= Some(150_000) && job["checkpoint_state_bytes"].as_u64() > Some(32 << 20)
    });
    running.end_of_job(&["stop"]);
    assert!(objects("large/large").iter().all(|name| name.starts_with("n/")));
    // The keys are known: the second file makes two of each.
    program.write("in/more.jsonl", &rows);
    let mut running = program.start(&run);
    running.wait_until("all of it is read", |job| job["nodes"][0]["rows_in"].as_u64() >= Some(300_000));
    let ran = running.end_of_job(&["stop"]).says(&["HW-L010"]);
    assert!(ran.out.contains("[2]") && !ran.out.contains("[3]"), "{}", ran.out);
}
