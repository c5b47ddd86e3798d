//! Exactly once: the rows of a checkpoint are kept in it, and once it is durable transactions write them, each together
//! with a record of how far the commit has come.
//!
//! `chunk` is the form in which a checkpoint keeps messages, `progress` the topic that says what is committed,
//! `session` the transactional producer.
//!
//! Invariants: a transaction is open only during a commit. Whoever begins, or is not sure how a transaction ended, fences
//! the id first and reads the progress then, so that nothing can be committed behind its back. What the progress topic
//! names is never written again, what it does not name is. A start takes the id from whoever has it; an instance that
//! finds it taken stops.

pub(super) mod chunk;
mod progress;
mod session;

use self::chunk::{Bytes, MAGIC, foreign};
use self::progress::{Owner, Progress, ProgressRecord};
use self::session::{Patience, Session, TransactionConfig, delivery_timeout_ms};
use super::client::Role;
use super::codes;
use super::outage::Outage;
use super::probe::{self, TopicInfo};
use super::table::KafkaTable;
use base::connector::{Committable, SinkRun};
use base::{Epoch, Error, Result};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::FromClientConfig;
use rdkafka::error::RDKafkaErrorCode;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long a transaction may be open if the table does not say it: as long as a record is tried. Flink has an hour,
/// because its transactions are open from checkpoint to checkpoint.
const TRANSACTION_TIMEOUT_MS: u64 = 120_000;
/// Bytes after which a transaction takes no further chunk.
const TRANSACTION_BYTES: usize = 32 << 20;
/// Bytes of one writer after which a checkpoint is asked for.
const CHECKPOINT_BYTES: usize = 32 << 20;
/// Ids that a run may have had since its last checkpoint.
const MOVES_MAX: usize = 8;
/// How long a writer waits for room before it gives up.
const ROOM_TIME_MAX: Duration = Duration::from_secs(60);
/// The time between two tries of a commit.
const RETRY: Duration = Duration::from_secs(1);
/// How long answers about settings may take.
const SETTINGS_TIME_MAX: Duration = Duration::from_secs(3);
/// How long making the progress topic may take.
const CREATE_TIME_MAX: Duration = Duration::from_secs(5);
/// What the envelope of one record takes in the broker's count, with room to spare.
const ENVELOPE_BYTES: usize = 256;
/// `message.max.bytes` of the client.
const MESSAGE_BYTES_MAX: usize = 1_000_000;
/// How long saying that the job has ended may take: it only spares others a warning.
const FAREWELL_TIME_MAX: Duration = Duration::from_secs(3);

/// Why something did not work.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The id belongs to a newer producer.
    Fenced(String),
    /// Trying again would not help, or the job has to.
    Final(Error),
    /// It may go by: the cause.
    Passing(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Final(error)
    }
}

/// The exactly-once side of one sink.
#[derive(Debug)]
pub(in crate::kafka) struct Transactions {
    table: Arc<KafkaTable>,
    prefix: String,
    /// `sink.exactly-once.max-bytes`.
    bytes_max: usize,
    /// This program and sink among all that have ever used the id.
    instance: String,
    state: Mutex<State>,
    /// The producer; a commit holds it.
    session: Mutex<Option<Session>>,
    /// A record of this size fits everywhere.
    fits_everywhere: AtomicUsize,
    /// Bytes that are not committed, and those of them that a barrier has passed.
    waiting: AtomicUsize,
    prepared: AtomicUsize,
    committed: Notify,
}

#[derive(Debug, Clone, Default)]
struct State {
    id: String,
    job: String,
    run: String,
    restored: Option<Restored>,
    has_interval: bool,
    timeout_ms: u64,
    /// A producer of this instance has had the id.
    has_had_id: bool,
    /// What is known to be committed.
    progress: Progress,
    /// The largest record that every topic takes.
    record_bytes_max: HashMap<String, usize>,
}

/// What a checkpoint says about the commits before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Restored {
    epoch: Epoch,
    run: String,
    id: String,
    progress: Progress,
}

/// The cluster as the start finds it.
struct Cluster {
    broker: Option<i32>,
    replication: i32,
    has_progress_topic: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is replaced as a whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that nothing else has.
fn unique() -> String {
    // The keys of the standard hasher come from the system's random numbers.
    let random = || {
        let mut hasher = std::hash::RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    };
    format!("{:016x}{:016x}", random(), random())
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    name.map_or_else(|_| "?".to_string(), |name| name.trim().to_string())
}

impl Transactions {
    /// For a table. Opens nothing.
    ///
    /// # Errors
    /// Client properties that a transactional producer does not take.
    pub fn new(table: Arc<KafkaTable>, prefix: String, bytes_max: usize) -> Result<Transactions> {
        let settings = &table.settings;
        let weak = [
            ("acks", settings.property("acks").is_some_and(|acks| !matches!(acks, "all" | "-1"))),
            ("enable.idempotence", settings.property("enable.idempotence").is_some_and(|value| value != "true")),
        ];
        if let Some((key, _)) = weak.iter().find(|(_, is_weak)| *is_weak) {
            let reason = "a transaction needs every replica, and each record once";
            let key = format!("properties.{key}");
            return Err(super::clash(&key, super::options::DELIVERY_GUARANTEE.key, reason));
        }
        Ok(Transactions {
            table,
            prefix,
            bytes_max,
            instance: unique(),
            state: Mutex::default(),
            session: Mutex::default(),
            fits_everywhere: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            prepared: AtomicUsize::new(0),
            committed: Notify::new(),
        })
    }

    /// Learns which sink of which job this is, and what a checkpoint says.
    ///
    /// # Errors
    /// The state of another connector.
    pub fn prepare(&self, run: &SinkRun<'_>) -> Result<()> {
        let sink = run.sink.strip_prefix("sink-").unwrap_or(run.sink);
        let name = match run.job {
            job if job.is_empty() || job == sink => sink.to_string(),
            job => format!("{job}-{sink}"),
        };
        let mut restored = None;
        if let Some((epoch, states)) = run.restored {
            for state in states.iter().filter(|state| !state.is_empty()) {
                let read = Restored::decode(epoch, state).ok_or_else(|| foreign(&self.table.name))?;
                restored.get_or_insert(read);
            }
        }
        let mut state = lock(&self.state);
        *state = State {
            id: format!("{}-{}", self.prefix, name.replace('#', "-")),
            job: run.job.to_string(),
            run: restored.as_ref().map_or_else(unique, |restored| restored.run.clone()),
            restored,
            has_interval: run.checkpoint_interval.is_some(),
            has_had_id: state.has_had_id,
            ..State::default()
        };
        self.waiting.store(0, Ordering::SeqCst);
        self.prepared.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn state(&self) -> State {
        lock(&self.state).clone()
    }

    fn config(&self) -> TransactionConfig {
        let State { id, timeout_ms, .. } = self.state();
        TransactionConfig {
            table: self.table.clone(),
            progress_topic: progress::topic_of(&id),
            id,
            timeout_ms,
            batch_bytes_max: self.fits_everywhere.load(Ordering::SeqCst),
        }
    }

    /// Looks at the cluster, makes the progress topic, takes the id and reads what is committed. Gives warnings.
    ///
    /// # Errors
    /// What makes transactions impossible, and progress that does not fit the checkpoint.
    pub async fn start(self: &Arc<Self>, topics: &[TopicInfo]) -> Result<Vec<Error>> {
        let mut warnings = Vec::new();
        if self.state().run.is_empty() {
            return Err(Error::internal("a sink was started that does not know its job"));
        }
        if !self.state().has_interval {
            warnings.push(Error::new(&codes::VISIBLE_AT_THE_END, &[("table", &self.table.name)]));
        }
        let cluster = {
            let (this, topic) = (self.clone(), topics.first().map(|topic| topic.name.to_string()));
            probe::blocking(move || this.look(topic.as_deref().unwrap_or_default())).await?
        };
        let admin = AdminClient::<DefaultClientContext>::from_config(&self.table.settings.config(Role::Producer));
        let admin = admin.map_err(|error| self.table.settings.creation_error(&error))?;
        warnings.extend(self.ask_limits(&admin, &cluster, topics).await?);
        if !cluster.has_progress_topic {
            self.make_progress_topic(&admin, cluster.replication).await?;
        }
        let this = self.clone();
        warnings.extend(probe::blocking(move || this.take_over()).await?);
        Ok(warnings)
    }

    fn look(&self, topic: &str) -> Result<Cluster> {
        let table = &self.table;
        let inquirer = table.settings.inquirer(Role::Consumer)?;
        let metadata = probe::metadata(table, &inquirer, Some(topic))?;
        let partitions = metadata.topics().iter().flat_map(|topic| topic.partitions());
        let replication = partitions.map(|partition| partition.replicas().len()).max().unwrap_or(1).max(1);
        let name = self.config().progress_topic;
        let progress = probe::metadata(table, &inquirer, Some(&name))?;
        let progress = progress.topics().iter().find(|topic| topic.name() == name);
        let error = progress.and_then(|topic| topic.error()).map(RDKafkaErrorCode::from);
        if let Some(code) = error.filter(|code| probe::is_forbidden(*code)) {
            let cause = format!("{code}; the user needs Describe, Read and Write of this topic");
            return Err(self.progress_topic_error(&cause, replication as i32));
        }
        Ok(Cluster {
            broker: metadata.brokers().first().map(|broker| broker.id()),
            replication: i32::try_from(replication).unwrap_or(1),
            has_progress_topic: error.is_none() && progress.is_some_and(|topic| !topic.partitions().is_empty()),
        })
    }

    /// Limits of the broker. One that does not tell them may still take what we do.
    async fn ask_limits(
        &self,
        admin: &AdminClient<DefaultClientContext>,
        cluster: &Cluster,
        topics: &[TopicInfo],
    ) -> Result<Vec<Error>> {
        let progress_topic = self.config().progress_topic;
        let mut resources: Vec<ResourceSpecifier<'_>> =
            topics.iter().map(|topic| ResourceSpecifier::Topic(&topic.name)).collect();
        resources.extend(cluster.has_progress_topic.then_some(ResourceSpecifier::Topic(&progress_topic)));
        resources.extend(cluster.broker.map(ResourceSpecifier::Broker));
        let options = AdminOptions::new().request_timeout(Some(SETTINGS_TIME_MAX));
        let answers = admin.describe_configs(&resources, &options).await.unwrap_or_default();
        let mut allowed_ms = None;
        let mut record_bytes_max = HashMap::new();
        for answer in answers.into_iter().flatten() {
            let value = |key: &str| answer.get(key).and_then(|entry| entry.value.clone());
            match &answer.specifier {
                rdkafka::admin::OwnedResourceSpecifier::Topic(name) if *name == progress_topic => {
                    let policy = value("cleanup.policy").unwrap_or_default();
                    if !policy.is_empty() && policy.trim() != "compact" {
                        let cause = format!(
                            "its cleanup.policy is '{policy}': the broker would delete what the sink must know for ever"
                        );
                        return Err(self.progress_topic_error(&cause, cluster.replication));
                    }
                }
                rdkafka::admin::OwnedResourceSpecifier::Topic(name) => {
                    let limit = value("max.message.bytes").and_then(|value| value.parse::<usize>().ok());
                    limit.map(|limit| record_bytes_max.insert(name.clone(), limit));
                }
                _ => allowed_ms = value("transaction.max.timeout.ms").and_then(|value| value.parse::<u64>().ok()),
            }
        }
        let set = self.table.settings.property("transaction.timeout.ms").and_then(|value| value.trim().parse().ok());
        let asked = set.unwrap_or(TRANSACTION_TIMEOUT_MS);
        let used = asked.min(allowed_ms.unwrap_or(asked));
        let mut state = lock(&self.state);
        state.timeout_ms = used;
        state.record_bytes_max = record_bytes_max;
        let smallest = state.record_bytes_max.values().map(|bytes| bytes.saturating_sub(ENVELOPE_BYTES)).min();
        let client = self.client_bytes_max();
        self.fits_everywhere.store(smallest.map_or(client, |smallest| smallest.min(client)), Ordering::SeqCst);
        let is_shortened = set.is_some() && used < asked;
        Ok(is_shortened
            .then(|| {
                let arguments: [(&'static str, &dyn std::fmt::Display); 4] = [
                    ("asked", &asked),
                    ("allowed", &used),
                    ("table", &self.table.name),
                    ("servers", &self.table.settings.servers),
                ];
                Error::new(&codes::TRANSACTION_SHORTENED, &arguments)
            })
            .into_iter()
            .collect())
    }

    async fn make_progress_topic(&self, admin: &AdminClient<DefaultClientContext>, replication: i32) -> Result<()> {
        let name = self.config().progress_topic;
        let topic = NewTopic::new(&name, 1, TopicReplication::Fixed(replication))
            .set("cleanup.policy", "compact")
            .set("segment.bytes", "16777216");
        let options =
            AdminOptions::new().operation_timeout(Some(CREATE_TIME_MAX)).request_timeout(Some(CREATE_TIME_MAX));
        let cause = match admin.create_topics([&topic], &options).await {
            Err(error) => error.to_string(),
            Ok(answers) => match answers.into_iter().next() {
                None | Some(Ok(_)) | Some(Err((_, RDKafkaErrorCode::TopicAlreadyExists))) => return Ok(()),
                Some(Err((_, code))) => code.to_string(),
            },
        };
        Err(self.progress_topic_error(&cause, replication))
    }

    fn progress_topic_error(&self, cause: &str, replication: i32) -> Error {
        let arguments: [(&'static str, &dyn std::fmt::Display); 5] = [
            ("topic", &self.config().progress_topic),
            ("table", &self.table.name),
            ("cause", &cause),
            ("servers", &self.table.settings.servers),
            ("replication", &replication),
        ];
        Error::new(&codes::PROGRESS_TOPIC, &arguments)
    }

    /// The producer at a start. Gives warnings.
    fn take_over(&self) -> Result<Vec<Error>> {
        let mut warnings = Vec::new();
        let session = self.open(&mut warnings).map_err(|trouble| self.start_error(trouble))?;
        let mut state = lock(&self.state);
        state.progress = session.progress;
        state.has_had_id = true;
        drop(state);
        // The old one can write no more, whether it is still at work or not.
        *lock(&self.session) = Some(session);
        Ok(warnings)
    }

    fn start_error(&self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Final(error) => error,
            Trouble::Fenced(cause) => self.fenced(None, &cause),
            Trouble::Passing(cause) => self.not_committed(&cause),
        }
    }

    /// Fences the id, and finds out what is committed.
    fn open(&self, warnings: &mut Vec<Error>) -> Result<Session, Trouble> {
        let (config, state) = (self.config(), self.state());
        let topic = config.progress_topic.clone();
        if state.has_had_id {
            // Somebody may have taken it since then: that one is newer.
            if let Some(owner) = self.other_owner()? {
                return Err(Trouble::Final(self.fenced(Some(&owner), "")));
            }
        }
        let mut session = Session::open(config)?;
        let found = progress::read(&self.table, &topic, &state.run)?;
        let progress = self.reconcile(&state, found.own, warnings)?;
        let own = self.record(progress);
        if let Some(last) = found
            .last
            .filter(|last| last.owner.run != state.run && last.owner.instance != self.instance && !last.has_ended)
        {
            warnings.push(self.taken_over(&last.owner));
        }
        session.announce(&own, &mut Patience::new(Instant::now() + CREATE_TIME_MAX, None))?;
        Ok(session)
    }

    /// What is committed: as the progress topic says, if that fits what the checkpoint says.
    fn reconcile(
        &self,
        state: &State,
        own: Option<ProgressRecord>,
        warnings: &mut Vec<Error>,
    ) -> Result<Progress, Trouble> {
        let progress = own.as_ref().map(|own| own.progress);
        let at_least = |known: Progress| {
            progress.filter(|own| *own >= known).ok_or_else(|| Trouble::Final(self.lost(&state.id, known)))
        };
        if state.progress > Progress::default() {
            // Within one run of the program it never goes back.
            return at_least(state.progress);
        }
        let Some(restored) = &state.restored else { return Ok(progress.unwrap_or_default()) };
        let is_ahead = |progress: &Progress| progress.checkpoint > restored.epoch.0;
        if let Some(ahead) = progress.filter(is_ahead) {
            return Err(Trouble::Final(self.ahead(restored.epoch, ahead)));
        }
        let other = if restored.id == state.id { own.and_then(|own| own.moved_to) } else { Some(restored.id.clone()) };
        let Some(other) = other else { return at_least(restored.progress) };
        // What it has begun under this id counts as well.
        let begun = progress.filter(|own| own.checkpoint > 0);
        let known =
            [begun, self.moved(other, state)].into_iter().flatten().filter(|progress| !is_ahead(progress)).max();
        if let Some(known) = known.filter(|known| *known >= restored.progress) {
            return Ok(known);
        }
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
            [("table", &self.table.name), ("epoch", &restored.epoch), ("earlier", &restored.id), ("id", &state.id)];
        warnings.push(Error::new(&codes::PROGRESS_UNKNOWN, &arguments));
        Ok(Progress::default())
    }

    /// What the run has committed under other ids, from `id` on. Their transactions are ended, and the last of their
    /// topics says where the run goes on.
    fn moved(&self, mut id: String, state: &State) -> Option<Progress> {
        let mut known = None;
        for _ in 0..MOVES_MAX {
            if id == state.id {
                break;
            }
            let config = TransactionConfig { id: id.clone(), progress_topic: progress::topic_of(&id), ..self.config() };
            let topic = config.progress_topic.clone();
            let mut session = Session::open(config).ok()?;
            let own = progress::read(&self.table, &topic, &state.run).ok()?.own?;
            known = known.max(Some(own.progress));
            if let Some(next) = own.moved_to {
                id = next;
                continue;
            }
            let moved_to = Some(state.id.clone());
            let record = ProgressRecord { has_ended: true, moved_to, ..self.record(own.progress) };
            let mut wait = Patience::new(Instant::now() + CREATE_TIME_MAX, None);
            if session.announce(&record, &mut wait).is_err() {
                // It matters only if the id changes once more before the next checkpoint.
                session.give_up();
            }
            break;
        }
        known
    }

    fn lost(&self, id: &str, known: Progress) -> Error {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("topic", &progress::topic_of(id)), ("table", &self.table.name), ("epoch", &known.checkpoint)];
        Error::new(&codes::PROGRESS_LOST, &arguments)
    }

    fn owner(&self) -> Owner {
        let State { run, job, .. } = self.state();
        Owner { run, instance: self.instance.clone(), job, host: host(), process: u64::from(std::process::id()) }
    }

    /// The record of a run that goes on.
    fn record(&self, progress: Progress) -> ProgressRecord {
        ProgressRecord { owner: self.owner(), progress, has_ended: false, moved_to: None }
    }

    /// Whoever has used the id after this instance.
    fn other_owner(&self) -> Result<Option<Owner>, Trouble> {
        let found = progress::read(&self.table, &self.config().progress_topic, &self.state().run)?;
        Ok(found.last.map(|last| last.owner).filter(|owner| owner.instance != self.instance))
    }

    /// Writes what a durable checkpoint names, as far as it is not written.
    ///
    /// # Errors
    /// Another instance has taken over; no broker answers; a record that the broker refuses.
    pub async fn commit(self: &Arc<Self>, epoch: Epoch, committables: &[Committable]) -> Result<()> {
        if committables.is_empty() {
            return Ok(());
        }
        let cancel = Cancel::default();
        let (this, committables, is_cancelled) = (self.clone(), committables.to_vec(), cancel.0.clone());
        probe::blocking(move || {
            this.commit_now(epoch, &committables, &is_cancelled)?;
            let bytes: usize = committables.iter().map(|chunk| chunk.0.len()).sum();
            for count in [&this.waiting, &this.prepared] {
                // What a checkpoint has brought back was never counted.
                let _ = count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |all| Some(all.saturating_sub(bytes)));
            }
            this.committed.notify_waiters();
            Ok(())
        })
        .await
    }

    fn commit_now(&self, epoch: Epoch, chunks: &[Committable], is_cancelled: &AtomicBool) -> Result<()> {
        let patience = Duration::from_millis(delivery_timeout_ms(&self.table.settings));
        let deadline = Instant::now() + patience;
        let mut outage = Outage::new(self.table.clone());
        loop {
            let trouble = match self.try_commit(epoch, chunks, Patience::new(deadline, Some(&mut outage)), is_cancelled)
            {
                Ok(()) => {
                    outage.end();
                    return Ok(());
                }
                Err(trouble) => trouble,
            };
            std::thread::sleep(RETRY);
            let cause = match trouble {
                Trouble::Final(error) => return Err(error),
                // A transaction that the broker has given up looks the same.
                Trouble::Fenced(cause) => match self.other_owner() {
                    Ok(Some(owner)) => return Err(self.fenced(Some(&owner), &cause)),
                    _ => cause,
                },
                Trouble::Passing(cause) => cause,
            };
            if Instant::now() >= deadline || is_cancelled.load(Ordering::SeqCst) {
                return Err(self.not_committed(&cause));
            }
            outage.begin(|| cause);
        }
    }

    fn try_commit(
        &self,
        epoch: Epoch,
        chunks: &[Committable],
        mut wait: Patience<'_>,
        is_cancelled: &AtomicBool,
    ) -> Result<(), Trouble> {
        let mut slot = lock(&self.session);
        if slot.is_none() {
            *slot = Some(self.open(&mut Vec::new())?);
        }
        let Some(session) = slot.as_mut() else { return Err(Error::internal("the producer was just made").into()) };
        let result = self.write(session, epoch, chunks, &mut wait, is_cancelled);
        if result.is_err()
            && let Some(session) = slot.take()
        {
            // How the last transaction ended is found out by the next producer.
            session.give_up();
        }
        result
    }

    fn write(
        &self,
        session: &mut Session,
        epoch: Epoch,
        chunks: &[Committable],
        wait: &mut Patience<'_>,
        is_cancelled: &AtomicBool,
    ) -> Result<(), Trouble> {
        let mut next = match session.progress {
            Progress { checkpoint, chunks } if checkpoint == epoch.0 => chunks as usize,
            progress if progress.checkpoint > epoch.0 => return Err(Trouble::Final(self.ahead(epoch, progress))),
            _ => 0,
        };
        while next < chunks.len() {
            if is_cancelled.load(Ordering::SeqCst) {
                return Err(Trouble::Passing("the job was cancelled".to_string()));
            }
            let count = together(&chunks[next..]);
            let progress = Progress { checkpoint: epoch.0, chunks: (next + count) as u64 };
            let record = self.record(progress);
            session.write(&chunks[next..next + count], &record, wait)?;
            lock(&self.state).progress = progress;
            next += count;
        }
        Ok(())
    }

    /// Says that the job has ended well, so that the next one need not warn.
    pub async fn finish(self: &Arc<Self>) {
        let this = self.clone();
        let farewell = probe::blocking(move || {
            if let Some(mut session) = lock(&this.session).take() {
                let record = ProgressRecord { has_ended: true, ..this.record(session.progress) };
                // Nothing depends on it.
                let mut wait = Patience::new(Instant::now() + FAREWELL_TIME_MAX, None);
                if session.announce(&record, &mut wait).is_err() {
                    session.give_up();
                }
            }
            Ok(())
        });
        let _ = timeout(2 * FAREWELL_TIME_MAX, farewell).await;
    }

    /// What every writer keeps: the run, and what is known to be committed.
    pub fn snapshot(&self) -> Vec<u8> {
        let State { run, id, progress, .. } = self.state();
        Restored { epoch: Epoch(0), run, id, progress }.encode()
    }

    /// Whether a record fits what client and broker take: a checkpoint with one that does not could never be committed.
    ///
    /// # Errors
    /// One that does not.
    pub fn check_size(&self, topic: &str, bytes: usize) -> Result<()> {
        if bytes <= self.fits_everywhere.load(Ordering::Relaxed) {
            return Ok(());
        }
        let settings = &self.table.settings;
        let mut limit = self.client_bytes_max();
        let is_plain = settings.property("compression.type").is_none_or(|kind| kind == "none");
        // How small a compressed record gets is not known.
        if let Some(broker) = lock(&self.state).record_bytes_max.get(topic).filter(|_| is_plain) {
            limit = limit.min(broker.saturating_sub(ENVELOPE_BYTES));
        }
        if bytes <= limit {
            return Ok(());
        }
        let cause = format!("client and topic take {limit} bytes");
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
            [("size", &bytes), ("topic", &topic), ("table", &self.table.name), ("cause", &cause)];
        Err(Error::new(&codes::TOO_LARGE, &arguments))
    }

    fn client_bytes_max(&self) -> usize {
        let set = self.table.settings.property("message.max.bytes").and_then(|value| value.trim().parse().ok());
        set.unwrap_or(MESSAGE_BYTES_MAX)
    }

    /// Counts bytes of a writer; waits while there is too much and a commit is on its way.
    ///
    /// # Errors
    /// Too much, and nothing that would make room.
    pub async fn add(&self, bytes: usize) -> Result<()> {
        let deadline = Instant::now() + ROOM_TIME_MAX;
        self.waiting.fetch_add(bytes, Ordering::SeqCst);
        while self.waiting.load(Ordering::SeqCst) > self.bytes_max {
            // Rows behind the last barrier go with the next one, which cannot pass a writer that waits.
            if self.prepared.load(Ordering::SeqCst) == 0 || Instant::now() >= deadline {
                let arguments: [(&'static str, &dyn std::fmt::Display); 3] = [
                    ("table", &self.table.name),
                    ("bytes", &self.bytes_max),
                    ("key", &super::options::EXACTLY_ONCE_BYTES.key),
                ];
                return Err(Error::new(&codes::TOO_MUCH_WAITS, &arguments));
            }
            let _ = timeout(RETRY, self.committed.notified()).await;
        }
        Ok(())
    }

    /// A barrier has passed over so many bytes.
    pub fn prepared(&self, bytes: usize) {
        self.prepared.fetch_add(bytes, Ordering::SeqCst);
    }

    /// Whether a writer with so many bytes since the last barrier should ask for a checkpoint.
    pub fn is_much(&self, bytes: usize) -> bool {
        bytes >= CHECKPOINT_BYTES.min(self.bytes_max / 2)
    }

    fn not_committed(&self, cause: &str) -> Error {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("table", &self.table.name), ("servers", &self.table.settings.servers), ("cause", &cause)];
        Error::new(&codes::NOT_COMMITTED, &arguments)
    }

    fn fenced(&self, owner: Option<&Owner>, cause: &str) -> Error {
        let other = owner.map_or_else(|| cause.to_string(), described);
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
            [("id", &self.state().id), ("table", &self.table.name), ("other", &other), ("prefix", &self.prefix)];
        Error::new(&codes::FENCED, &arguments)
    }

    fn taken_over(&self, owner: &Owner) -> Error {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("id", &self.state().id), ("table", &self.table.name), ("other", &described(owner))];
        Error::new(&codes::TAKEN_OVER, &arguments)
    }

    fn ahead(&self, epoch: Epoch, progress: Progress) -> Error {
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] = [
            ("table", &self.table.name),
            ("epoch", &epoch),
            ("committed", &progress.checkpoint),
            ("topic", &self.config().progress_topic),
        ];
        Error::new(&codes::PROGRESS_AHEAD, &arguments)
    }
}

/// How many chunks go into the next transaction.
fn together(chunks: &[Committable]) -> usize {
    let mut bytes = 0;
    let fits = chunks.iter().take_while(|chunk| {
        let is_first = bytes == 0;
        bytes += chunk.0.len();
        is_first || bytes <= TRANSACTION_BYTES
    });
    fits.count().max(1)
}

fn described(owner: &Owner) -> String {
    format!("job {}, process {} on {}", owner.job, owner.process, owner.host)
}

/// Tells a blocking commit that nobody waits for it any more.
#[derive(Debug, Default)]
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Restored {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for text in [&self.run, &self.id] {
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.progress.checkpoint.to_le_bytes());
        bytes.extend_from_slice(&self.progress.chunks.to_le_bytes());
        bytes
    }

    fn decode(epoch: Epoch, bytes: &[u8]) -> Option<Restored> {
        let mut bytes = Bytes(bytes.strip_prefix(MAGIC)?);
        Some(Restored {
            epoch,
            run: bytes.text()?.to_string(),
            id: bytes.text()?.to_string(),
            progress: Progress {
                checkpoint: u64::from_le_bytes(bytes.array()?),
                chunks: u64::from_le_bytes(bytes.array()?),
            },
        })
    }
}

#[cfg(test)]
#[path = "transactions_tests.rs"]
mod tests;
