//! `steps.yaml`: what a scenario does, read into types. A step that cannot be played is refused by name.

use super::json::Json;
use serde_json::{Map, Value};
use std::time::Duration;

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Makes a topic.
    CreateTopic {
        /// Name.
        name: String,
        /// Partitions.
        partitions: u32,
        /// Settings.
        configs: Vec<(String, String)>,
    },
    /// Starts a job.
    Start {
        /// The script below the scenario's folder.
        script: String,
    },
    /// Sends the records of one step.
    Produce {
        /// Topics.
        topics: Vec<String>,
        /// The number in the records.
        step: i64,
    },
    /// Waits until nothing has happened for this long.
    Settle(Duration),
    /// Waits until a key is in a topic.
    WaitKey {
        /// Topic.
        topic: String,
        /// Key.
        key: Json,
    },
    /// Waits for a number of records.
    WaitRows {
        /// Topic.
        topic: String,
        /// Whether live keys are counted instead of records.
        compacted: bool,
        /// How many.
        equals: usize,
    },
    /// Compares a topic with a file.
    Check {
        /// Topic.
        topic: String,
        /// What is compared.
        what: What,
        /// File.
        file: String,
        /// Fields that must be there and not null, with any value.
        ignore: Vec<String>,
    },
    /// Compares a count of the job.
    CheckMetric {
        /// Name in the status.
        name: String,
        /// Part of the operator's name.
        operator: String,
        /// The count.
        equals: u64,
    },
}

/// What of a topic is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The last value of every key that is not deleted.
    Compacted,
    /// The bytes of all keys and values in log order.
    ExactLog,
    /// All values, in any order.
    Records,
    /// Every value is one of those listed for its key.
    AllowedValues,
    /// Keys that were written and are deleted.
    Tombstones,
}

impl Step {
    /// For messages and progress.
    pub fn title(&self) -> String {
        match self {
            Step::CreateTopic { name, partitions, .. } => format!("create_topic {name}, partitions {partitions}"),
            Step::Start { script } => format!("start {script}"),
            Step::Produce { topics, step } => format!("produce {} step {step}", topics.join(", ")),
            Step::Settle(time) => format!("settle {time:?}"),
            Step::WaitKey { topic, key } => format!("wait_key {topic} {}", key.compact()),
            Step::WaitRows { topic, equals, .. } => format!("wait_rows {topic} = {equals}"),
            Step::Check { topic, file, .. } => format!("check {topic} with {file}"),
            Step::CheckMetric { name, operator, equals } => format!("check_metric {name} of {operator} = {equals}"),
        }
    }
}

/// Reads all steps.
///
/// # Errors
/// Text that is not YAML, and steps or attributes that are not known, with the step's number.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let steps: Vec<Map<String, Value>> =
        serde_saphyr::from_str(text).map_err(|cause| format!("steps are a list of `name: attributes`: {cause}"))?;
    let numbered = steps.into_iter().enumerate();
    numbered.map(|(index, step)| parse_step(step).map_err(|problem| format!("step {}: {problem}", index + 1))).collect()
}

fn parse_step(step: Map<String, Value>) -> Result<Step, String> {
    let mut entries = step.into_iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else {
        return Err("one name with its attributes is expected".into());
    };
    match (name.as_str(), value) {
        ("start", Value::String(script)) => Ok(Step::Start { script }),
        ("settle", Value::String(time)) => Ok(Step::Settle(duration(&time)?)),
        (_, Value::Object(attributes)) => {
            let mut attributes = Attributes { step: &name, left: attributes };
            let step = attributes.step(&name)?;
            attributes.end()?;
            Ok(step)
        }
        _ => Err(unknown(&name)),
    }
}

fn unknown(name: &str) -> String {
    format!("{name:?} cannot be played: it needs something that hw-testkit does not have yet")
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').and_then(|number| number.trim().parse().ok());
    seconds.map(Duration::from_secs).ok_or_else(|| format!("{text:?} is no time such as 3s"))
}

/// The attributes of a step; each is taken once, and what is left over is a mistake.
struct Attributes<'a> {
    step: &'a str,
    left: Map<String, Value>,
}

impl Attributes<'_> {
    fn step(&mut self, name: &str) -> Result<Step, String> {
        match name {
            "create_topic" => self.create_topic(),
            "produce" => Ok(Step::Produce { topics: self.texts("topic")?, step: self.integer("step")? }),
            "wait_key" => {
                let key = self.take("key")?;
                Ok(Step::WaitKey { topic: self.text("topic")?, key: Json::parse(&key.to_string())? })
            }
            "wait_rows" if self.has("topic") => {
                Ok(Step::WaitRows { topic: self.text("topic")?, compacted: false, equals: self.integer("equals")? })
            }
            "wait_rows" if self.has("topic_compacted") => {
                let topic = self.text("topic_compacted")?;
                Ok(Step::WaitRows { topic, compacted: true, equals: self.integer("equals")? })
            }
            "check" if self.has("topic") => self.check(),
            "check_values" => self.check_file(What::AllowedValues, "only"),
            "check_tombstone" => self.check_file(What::Tombstones, "keys"),
            "check_metric" if self.has("operator") => Ok(Step::CheckMetric {
                name: self.text("name")?,
                operator: self.text("operator")?,
                equals: self.integer("equals")?,
            }),
            _ => Err(unknown(name)),
        }
    }

    fn create_topic(&mut self) -> Result<Step, String> {
        let (name, partitions) = (self.text("name")?, self.integer("partitions")?);
        let configs = std::mem::take(&mut self.left).into_iter();
        let configs = configs.map(|(key, value)| (key, value.as_str().map_or(value.to_string(), str::to_string)));
        Ok(Step::CreateTopic { name, partitions, configs: configs.collect() })
    }

    fn check(&mut self) -> Result<Step, String> {
        let ignore = if self.has("ignore") { self.texts("ignore")? } else { Vec::new() };
        let kinds = [("compacted", What::Compacted), ("exact_log", What::ExactLog), ("records", What::Records)];
        match kinds.into_iter().find(|(name, _)| self.has(name)) {
            Some((name, what)) => Ok(Step::Check { topic: self.text("topic")?, what, file: self.text(name)?, ignore }),
            None => Err("check needs compacted, exact_log or records".into()),
        }
    }

    fn check_file(&mut self, what: What, name: &str) -> Result<Step, String> {
        Ok(Step::Check { topic: self.text("topic")?, what, file: self.text(name)?, ignore: Vec::new() })
    }

    fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    fn take(&mut self, name: &str) -> Result<Value, String> {
        self.left.remove(name).ok_or_else(|| format!("{} needs {name}", self.step))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            Value::String(text) => Ok(text),
            other => Err(format!("{name} of {} is no text: {other}", self.step)),
        }
    }

    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let values = match self.take(name)? {
            Value::Array(values) => values,
            one => vec![one],
        };
        let texts = values.iter().map(|value| value.as_str().map(str::to_string));
        texts.collect::<Option<_>>().ok_or_else(|| format!("{name} of {} are no texts", self.step))
    }

    fn integer<T: TryFrom<i64>>(&mut self, name: &str) -> Result<T, String> {
        let value = self.take(name)?;
        let number = value.as_i64().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("{name} of {} is no number: {value}", self.step))
    }

    fn end(self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("{} has no attribute {name}", self.step)),
        }
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
