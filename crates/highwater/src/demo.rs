//! `highwater demo`: generated orders, the minute-GMV script, its live result table. Nothing needs to be installed.

use crate::cli::DemoArgs;
use crate::results::{ResultMode, ResultSinks};
use crate::run::{Overrides, Warned, start};
use crate::{EXIT_OK, language, refuse, registries, script};
use base::{Error, Result};
use connectors::kafka::LocalBroker;
use std::path::Path;
use std::sync::Arc;
use syntax::Script;

/// Orders as the generator gives them: log-normal amounts, 10 000 users of whom ten are hot, five in a thousand orders late.
const ORDERS: &str = include_str!("demo/orders.sql");
/// The query of the demo.
const QUERY: &str = include_str!("demo/minute_gmv.sql");
/// Writes the generated orders to a folder.
const SAVE: &str = include_str!("demo/save.sql");
/// Orders as a saved folder has them.
const SAVED_ORDERS: &str = include_str!("demo/saved_orders.sql");
/// The script that `--save` leaves behind.
const SAVED_SCRIPT: &str = "minute_gmv.sql";

/// The demo through Kafka.
const KAFKA: &str = include_str!("demo/kafka.sql");
/// The topics of [`KAFKA`] with their partitions.
const KAFKA_TOPICS: [(&str, i32); 2] = [("highwater_demo_orders", 3), ("highwater_demo_minute_gmv", 1)];

/// Runs the demo; gives the exit code.
pub fn demo(args: &DemoArgs) -> u8 {
    let language = language::from_environment();
    let overrides = Overrides { state_dir: args.state_dir.state_dir.clone(), ..Overrides::default() };
    let numbers = [("ORDERS", args.orders.to_string()), ("RATE", args.rate.to_string())];
    if let Some(address) = &args.kafka {
        let code = through_kafka(address.as_deref(), &numbers, &overrides);
        return code.unwrap_or_else(|error| refuse(&error, language));
    }
    if let Some(folder) = &args.save {
        match save(folder, &numbers, &overrides) {
            Ok(EXIT_OK) => {}
            Ok(code) => return code,
            Err(error) => return refuse(&error, language),
        }
    }
    let text = match &args.save {
        None => format!("{ORDERS}\n{QUERY}"),
        Some(_) => format!("{SAVED_ORDERS}\n{QUERY}"),
    };
    let folder = args.save.as_deref().map(|folder| folder.join("orders"));
    let folder = folder.map_or(String::new(), |folder| folder.display().to_string());
    let variables = [numbers.as_slice(), &[("ORDERS_FOLDER", folder)]].concat();
    eprintln!("orders -> one-minute windows -> order count and GMV per minute (Ctrl-C stops)");
    match run_text("demo", &text, &variables, &overrides) {
        Ok(code) => {
            if let Some(folder) = &args.save {
                eprintln!("saved: {}", folder.display());
                eprintln!("next:  cd {} && highwater run {SAVED_SCRIPT}", folder.display());
            }
            code
        }
        Err(error) => refuse(&error, language),
    }
}

/// The demo through the broker at `address`, or through one inside this process.
fn through_kafka(address: Option<&str>, numbers: &[(&str, String)], overrides: &Overrides) -> Result<u8> {
    let own = if address.is_none() { Some(LocalBroker::start()?) } else { None };
    for (topic, partitions) in KAFKA_TOPICS {
        own.as_ref().map_or(Ok(()), |broker| broker.create_topic(topic, partitions))?;
    }
    let address = address.map_or_else(|| own.as_ref().map(LocalBroker::address).unwrap_or_default(), str::to_string);
    let [(orders, _), (minutes, _)] = KAFKA_TOPICS;
    eprintln!("orders -> topic {orders} -> one-minute windows -> topic {minutes} (Ctrl-C stops)");
    eprintln!("broker: {address}");
    eprintln!("watch:  kcat -b {address} -t {minutes} -K ' '");
    eprintln!("        kafka-console-consumer.sh --bootstrap-server {address} --topic {minutes} --from-beginning");
    // The topics of a given broker can hold the orders of an earlier demo.
    let startup = if own.is_some() { "earliest-offset" } else { "timestamp" }.to_string();
    let now_ms = registries::clock().now_ms().to_string();
    let variables = [numbers, &[("KAFKA", address), ("STARTUP", startup), ("NOW_MS", now_ms)]].concat();
    run_text("demo", &format!("{ORDERS}\n{KAFKA}"), &variables, overrides)
}

/// Writes the orders and a script that reads them.
fn save(folder: &Path, numbers: &[(&str, String)], overrides: &Overrides) -> Result<u8> {
    let orders = folder.join("orders");
    if orders.exists() {
        return Err(Error::io(
            "save the demo to",
            orders.display(),
            &std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the folder is already there"),
        ));
    }
    std::fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder.display(), &cause))?;
    // The saved copy is written as fast as it goes.
    let mut variables: Vec<(&str, String)> = numbers.iter().filter(|(name, _)| *name != "RATE").cloned().collect();
    variables.push(("RATE", "1000000000".into()));
    variables.push(("ORDERS_FOLDER", orders.display().to_string()));
    let code = run_text("demo-save", &format!("{ORDERS}\n{SAVE}"), &variables, overrides)?;
    let script = format!("{SAVED_ORDERS}\n{QUERY}").replace("${ORDERS_FOLDER}", "orders");
    let path = folder.join(SAVED_SCRIPT);
    std::fs::write(&path, script).map_err(|cause| Error::io("write", path.display(), &cause))?;
    Ok(code)
}

fn run_text(name: &str, text: &str, variables: &[(&str, String)], overrides: &Overrides) -> Result<u8> {
    let lookup = |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone());
    let text = syntax::substitute(text, lookup)
        .map_err(|missing| Error::internal(format!("demo script without {}", missing.name)))?;
    let script = Script::new(name, &text);
    let results = Arc::new(ResultSinks::default());
    results.set_mode(ResultMode::Table);
    let warned = Warned::default();
    let mut session = registries::session(results.clone(), warned.warnings.clone());
    let planned = script::plan(&script, &mut session, language::from_environment())?;
    Ok(start(planned, &results, overrides, warned))
}
