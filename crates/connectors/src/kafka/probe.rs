//! The look at the cluster before a job runs: brokers, topics, addresses, positions. Everything that would make a reader
//! wait for ever is found here and named, within 15 seconds.

use super::client::{Inquirer, Role};
use super::codes;
use super::input::Start;
use super::position::Position;
use super::table::{KafkaTable, Reset, Startup, Stop, Topics};
use base::nearest::nearest;
use base::{Error, Result};
use rdkafka::admin::{AdminClient, AdminOptions, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::FromClientConfig;
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::{Metadata, MetadataTopic};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long one request may take.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a topic that is being made may take to get its leaders.
const LEADER_TIME_MAX: Duration = Duration::from_secs(4);
/// The time between two looks at such a topic.
const LEADER_RETRY: Duration = Duration::from_millis(100);
/// How long a connection may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// Topics that a message lists.
const LISTED_MAX: usize = 20;

/// A topic as the cluster has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TopicInfo {
    /// Name.
    pub name: Arc<str>,
    /// Partitions, ascending.
    pub partitions: Vec<i32>,
}

/// What the cluster said.
struct Answer {
    topics: Vec<TopicInfo>,
    /// Addresses of the leaders, each with one of their topics.
    leaders: BTreeMap<(String, u16), Arc<str>>,
}

/// Looks at the topics of a table and dials the brokers that lead them.
///
/// # Errors
/// No broker, no login, no permission, no such topic, an address that cannot be reached.
pub(crate) async fn topics(table: &Arc<KafkaTable>, role: Role) -> Result<Vec<TopicInfo>> {
    let answer = {
        let table = table.clone();
        blocking(move || {
            let inquirer = table.settings.inquirer(role)?;
            ask(&table, &inquirer, role)
        })
        .await?
    };
    for ((host, port), topic) in &answer.leaders {
        let advertised = format!("{host}:{port}");
        let cause = match timeout(CONNECT_TIME_MAX, TcpStream::connect((host.as_str(), *port))).await {
            Ok(Ok(_)) => continue,
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => format!("no connection to {advertised} within {} s", CONNECT_TIME_MAX.as_secs()),
        };
        return Err(Error::new(
            &codes::ADVERTISED_UNREACHABLE,
            &[
                ("servers", &table.settings.servers),
                ("topic", topic),
                ("advertised", &advertised),
                ("cause", &cause),
                ("table", &table.name),
            ],
        ));
    }
    Ok(answer.topics)
}

/// Runs a blocking call of the client beside the async tasks.
pub(crate) async fn blocking<T: Send + 'static>(call: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let joined = tokio::task::spawn_blocking(call).await;
    joined.map_err(|error| Error::internal(format!("a call of the Kafka client did not end: {error}")))?
}

fn ask(table: &KafkaTable, inquirer: &Inquirer, role: Role) -> Result<Answer> {
    let mut answer = Answer { topics: Vec::new(), leaders: BTreeMap::new() };
    match &table.topics {
        Topics::Named(names) => {
            for name in names {
                ask_topic(table, inquirer, role, name, &mut answer)?;
            }
        }
        Topics::Pattern(_, pattern) => {
            let metadata = metadata(table, inquirer, None)?;
            for topic in
                metadata.topics().iter().filter(|topic| !is_internal(topic.name()) && pattern.is_match(topic.name()))
            {
                take(&metadata, topic, &mut answer);
            }
            if answer.topics.is_empty() {
                let known = known_topics(&metadata);
                return Err(Error::new(
                    &codes::PATTERN_MATCHES_NOTHING,
                    &[
                        ("pattern", &table.topics_text()),
                        ("table", &table.name),
                        ("servers", &table.settings.servers),
                        ("known", &listed(&known)),
                    ],
                ));
            }
        }
    }
    Ok(answer)
}

/// Asks for one topic, and waits a moment for one that is being made.
fn ask_topic(table: &KafkaTable, inquirer: &Inquirer, role: Role, name: &str, answer: &mut Answer) -> Result<()> {
    let deadline = Instant::now() + LEADER_TIME_MAX;
    loop {
        let metadata = metadata(table, inquirer, Some(name))?;
        let topic = metadata.topics().iter().find(|topic| topic.name() == name);
        let problem = topic.map_or(Some(RDKafkaErrorCode::UnknownTopicOrPartition), |topic| {
            let leaderless = || topic.partitions().is_empty() || topic.partitions().iter().any(|p| p.leader() < 0);
            let error = topic.error().map(RDKafkaErrorCode::from);
            error.or_else(|| leaderless().then_some(RDKafkaErrorCode::LeaderNotAvailable))
        });
        match (problem, topic) {
            (None, Some(topic)) => {
                take(&metadata, topic, answer);
                return Ok(());
            }
            (Some(code), _) => {
                // Writing makes a topic where the broker allows it; that takes a moment.
                let may_come = code == RDKafkaErrorCode::LeaderNotAvailable
                    || (role == Role::Producer && code == RDKafkaErrorCode::UnknownTopicOrPartition);
                if may_come && Instant::now() < deadline {
                    std::thread::sleep(LEADER_RETRY);
                    continue;
                }
                return Err(topic_problem(table, inquirer, role, name, code));
            }
            (None, None) => return Err(Error::internal("a topic without a problem is there")),
        }
    }
}

fn topic_problem(table: &KafkaTable, inquirer: &Inquirer, role: Role, name: &str, code: RDKafkaErrorCode) -> Error {
    match code {
        RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic => {
            let known = metadata(table, inquirer, None).map(|metadata| known_topics(&metadata)).unwrap_or_default();
            let near = nearest(name, known.iter().map(String::as_str));
            Error::new(
                &codes::TOPIC_UNKNOWN,
                &[
                    ("topic", &name),
                    ("table", &table.name),
                    ("servers", &table.settings.servers),
                    ("known", &listed(&known)),
                    ("nearest", &if near.is_empty() { "-".to_string() } else { near.join(", ") }),
                ],
            )
        }
        code => request_problem(table, name, role, code, None),
    }
}

/// The error for a request that the broker has refused or not answered.
pub(crate) fn request_problem(
    table: &KafkaTable,
    topic: &str,
    role: Role,
    code: RDKafkaErrorCode,
    reported: Option<(RDKafkaErrorCode, String)>,
) -> Error {
    let settings = &table.settings;
    let (reported_code, reason) = reported.map_or((code, code.to_string()), |(code, reason)| (code, reason));
    if reported_code == RDKafkaErrorCode::Authentication || reported_code == RDKafkaErrorCode::SaslAuthenticationFailed
    {
        return Error::new(
            &codes::NOT_AUTHENTICATED,
            &[("servers", &settings.servers), ("user", &settings.user), ("table", &table.name), ("cause", &reason)],
        );
    }
    if is_forbidden(code) || is_forbidden(reported_code) {
        let (action, operation) = match role {
            Role::Consumer => ("read", "Read"),
            Role::Producer => ("write", "Write"),
        };
        return Error::new(
            &codes::NOT_AUTHORISED,
            &[
                ("user", &settings.user),
                ("action", &action),
                ("operation", &operation),
                ("topic", &topic),
                ("table", &table.name),
                ("servers", &settings.servers),
                ("cause", &code),
            ],
        );
    }
    let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
        [("servers", &settings.servers), ("table", &table.name), ("topic", &topic), ("cause", &reason)];
    Error::new(if heals(code) { &codes::BROKER_UNREACHABLE } else { &codes::REQUEST_FAILED }, &arguments)
}

/// Whether a problem can go away without anybody doing something to the job: the client tries again by itself.
pub(crate) fn heals(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::BrokerNotAvailable
            | Code::BrokerDestroy
            | Code::CoordinatorLoadInProgress
            | Code::CoordinatorNotAvailable
            | Code::FencedLeaderEpoch
            | Code::KafkaStorageError
            | Code::LeaderNotAvailable
            | Code::ListenerNotFound
            | Code::NetworkException
            | Code::NotCoordinator
            | Code::NotLeaderForPartition
            | Code::OffsetNotAvailable
            | Code::OperationTimedOut
            | Code::PreferredLeaderNotAvailable
            | Code::ReplicaNotAvailable
            | Code::RequestTimedOut
            | Code::Resolve
            | Code::Retry
            | Code::TimedOutQueue
            | Code::UnknownLeaderEpoch
            | Code::WaitingForCoordinator
    )
}

/// Whether the broker has refused because of a missing permission.
pub(crate) fn is_forbidden(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::TopicAuthorizationFailed
            | RDKafkaErrorCode::GroupAuthorizationFailed
            | RDKafkaErrorCode::ClusterAuthorizationFailed
    )
}

/// Metadata of one topic or of all.
pub(super) fn metadata(table: &KafkaTable, inquirer: &Inquirer, topic: Option<&str>) -> Result<Metadata> {
    inquirer.consumer().fetch_metadata(topic, REQUEST_TIME_MAX).map_err(|error| {
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::BrokerTransportFailure);
        let name = topic.map_or_else(|| table.topics_text(), str::to_string);
        request_problem(table, &name, Role::Consumer, code, inquirer.last_error())
    })
}

fn take(metadata: &Metadata, topic: &MetadataTopic, answer: &mut Answer) {
    let name: Arc<str> = topic.name().into();
    let mut partitions: Vec<i32> = topic.partitions().iter().map(|partition| partition.id()).collect();
    partitions.sort_unstable();
    let leaders: BTreeSet<i32> = topic.partitions().iter().map(|partition| partition.leader()).collect();
    for broker in metadata.brokers().iter().filter(|broker| leaders.contains(&broker.id())) {
        let address = (broker.host().to_string(), broker.port() as u16);
        answer.leaders.entry(address).or_insert_with(|| name.clone());
    }
    answer.topics.push(TopicInfo { name, partitions });
}

fn known_topics(metadata: &Metadata) -> Vec<String> {
    let names = metadata.topics().iter().map(MetadataTopic::name);
    let mut names: Vec<String> = names.filter(|name| !is_internal(name)).map(str::to_string).collect();
    names.sort();
    names
}

/// Whether a topic is the broker's own: a pattern never means it, as in Flink.
fn is_internal(name: &str) -> bool {
    matches!(name, "__consumer_offsets" | "__transaction_state" | "__share_group_state" | "__cluster_metadata")
}

fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_string(),
        count if count > LISTED_MAX => format!("{}, ... ({count})", names[..LISTED_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// Looks for partitions again while the job runs: the topics of a pattern, or those of the list that are still there.
///
/// # Errors
/// No answer; not an error of the table.
pub(crate) fn look_again(table: &KafkaTable, inquirer: &Inquirer) -> Result<Vec<TopicInfo>> {
    let mut answer = Answer { topics: Vec::new(), leaders: BTreeMap::new() };
    let all = metadata(table, inquirer, None)?;
    let wanted = |name: &str| match &table.topics {
        Topics::Named(names) => names.iter().any(|wanted| wanted == name),
        Topics::Pattern(_, pattern) => !is_internal(name) && pattern.is_match(name),
    };
    for topic in all.topics().iter().filter(|topic| wanted(topic.name())) {
        match topic.error().map(RDKafkaErrorCode::from) {
            None => take(&all, topic, &mut answer),
            Some(code) if is_forbidden(code) => {
                return Err(request_problem(table, topic.name(), Role::Consumer, code, None));
            }
            Some(_) => {}
        }
    }
    Ok(answer.topics)
}

/// The first and the end offset of a partition.
pub(crate) fn watermarks(table: &KafkaTable, inquirer: &Inquirer, topic: &str, partition: i32) -> Result<(i64, i64)> {
    inquirer
        .consumer()
        .fetch_watermarks(topic, partition, REQUEST_TIME_MAX)
        .map_err(|error| offsets_problem(table, inquirer, topic, &error))
}

fn offsets_problem(table: &KafkaTable, inquirer: &Inquirer, topic: &str, error: &KafkaError) -> Error {
    let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::BrokerTransportFailure);
    request_problem(table, topic, Role::Consumer, code, inquirer.last_error())
}

/// Where a first start reads each partition.
///
/// # Errors
/// Offsets that are not there, a group without a position, a broker that does not answer.
pub(super) fn ranges(table: &KafkaTable, inquirer: &Inquirer, topics: &[TopicInfo]) -> Result<Vec<Start>> {
    check_partitions(table, topics)?;
    let mut ranges = Vec::new();
    for topic in topics {
        let positions = Positions::ask(table, inquirer, topic)?;
        for &partition in &topic.partitions {
            let (low, high) = watermarks(table, inquirer, &topic.name, partition)?;
            let start = positions.start(table, partition, low, high)?;
            let stop = positions.stop(table, partition, high)?;
            let position = Position { topic: topic.name.clone(), partition, next: start, stop };
            ranges.push(Start { position, stop_is_written: stop.is_some_and(|stop| stop <= high) });
        }
    }
    Ok(ranges)
}

/// Specific offsets must name partitions that are there.
fn check_partitions(table: &KafkaTable, topics: &[TopicInfo]) -> Result<()> {
    let lists = [
        (
            super::options::STARTUP_OFFSETS.key,
            if let Startup::Offsets(list) = &table.startup { Some(list) } else { None },
        ),
        (super::options::BOUNDED_OFFSETS.key, if let Stop::Offsets(list) = &table.stop { Some(list) } else { None }),
    ];
    for (key, list) in lists {
        for partition in list.into_iter().flatten().map(|(partition, _)| partition) {
            if let Some(topic) = topics.iter().find(|topic| !topic.partitions.contains(partition)) {
                return Err(Error::new(
                    &codes::NO_SUCH_PARTITION,
                    &[
                        ("key", &key),
                        ("partition", partition),
                        ("topic", &topic.name),
                        ("count", &topic.partitions.len()),
                        ("table", &table.name),
                    ],
                ));
            }
        }
    }
    Ok(())
}

/// Positions of one topic that must be asked for.
struct Positions {
    topic: Arc<str>,
    group: BTreeMap<i32, i64>,
    start_time: BTreeMap<i32, i64>,
    stop_time: BTreeMap<i32, i64>,
}

impl Positions {
    fn ask(table: &KafkaTable, inquirer: &Inquirer, topic: &TopicInfo) -> Result<Positions> {
        let mut positions = Positions {
            topic: topic.name.clone(),
            group: BTreeMap::new(),
            start_time: BTreeMap::new(),
            stop_time: BTreeMap::new(),
        };
        let problem = |error: KafkaError| offsets_problem(table, inquirer, &topic.name, &error);
        let asks_group = matches!(table.startup, Startup::Group(_)) || table.stop == Stop::Group;
        if asks_group && table.group.is_some() {
            let mut list = TopicPartitionList::new();
            topic.partitions.iter().for_each(|&partition| {
                list.add_partition(&topic.name, partition);
            });
            let committed = inquirer.consumer().committed_offsets(list, REQUEST_TIME_MAX).map_err(problem)?;
            positions.group = known(&committed);
        }
        let at = |time_ms: i64| -> Result<BTreeMap<i32, i64>> {
            let mut list = TopicPartitionList::new();
            for &partition in &topic.partitions {
                let added = list.add_partition_offset(&topic.name, partition, Offset::Offset(time_ms));
                added.map_err(|error| offsets_problem(table, inquirer, &topic.name, &error))?;
            }
            Ok(known(&inquirer.consumer().offsets_for_times(list, REQUEST_TIME_MAX).map_err(problem)?))
        };
        if let Startup::Timestamp(time_ms) = table.startup {
            positions.start_time = at(time_ms)?;
        }
        if let Stop::Timestamp(time_ms) = table.stop {
            positions.stop_time = at(time_ms)?;
        }
        Ok(positions)
    }

    fn start(&self, table: &KafkaTable, partition: i32, low: i64, high: i64) -> Result<i64> {
        let start = match &table.startup {
            Startup::Earliest => low,
            Startup::Latest => high,
            Startup::Timestamp(_) => self.start_time.get(&partition).copied().unwrap_or(high),
            Startup::Offsets(list) => list.get(&partition).copied().unwrap_or(low),
            Startup::Group(reset) => match (self.group.get(&partition).copied(), reset) {
                (Some(offset), _) => offset,
                (None, Some(Reset::Earliest)) => low,
                (None, Some(Reset::Latest)) => high,
                (None, None) => {
                    let key = super::options::STARTUP_MODE.key;
                    return Err(self.no_group_offset(table, key, partition));
                }
            },
        };
        if (low..=high).contains(&start) {
            return Ok(start);
        }
        Err(offset_gone(table, &self.topic, partition, start, (low, high)))
    }

    fn stop(&self, table: &KafkaTable, partition: i32, high: i64) -> Result<Option<i64>> {
        Ok(match &table.stop {
            Stop::Never => None,
            Stop::Latest => Some(high),
            Stop::Timestamp(_) => Some(self.stop_time.get(&partition).copied().unwrap_or(high)),
            Stop::Offsets(list) => Some(list.get(&partition).copied().unwrap_or(0)),
            Stop::Group => match self.group.get(&partition) {
                Some(&offset) => Some(offset),
                None => return Err(self.no_group_offset(table, super::options::BOUNDED_MODE.key, partition)),
            },
        })
    }

    fn no_group_offset(&self, table: &KafkaTable, key: &str, partition: i32) -> Error {
        Error::new(
            &codes::NO_GROUP_OFFSET,
            &[
                ("group", &table.group.as_deref().unwrap_or("(none: 'properties.group.id' is not set)")),
                ("partition", &partition),
                ("topic", &self.topic),
                ("table", &table.name),
                ("key", &key),
            ],
        )
    }
}

/// The error for a position outside of what the broker holds.
pub(crate) fn offset_gone(
    table: &KafkaTable,
    topic: &str,
    partition: i32,
    offset: i64,
    (low, high): (i64, i64),
) -> Error {
    Error::new(
        &codes::OFFSET_GONE,
        &[
            ("offset", &offset),
            ("topic", &topic),
            ("partition", &partition),
            ("table", &table.name),
            ("low", &low),
            ("high", &high),
        ],
    )
}

/// The partitions of a list that have an offset.
fn known(list: &TopicPartitionList) -> BTreeMap<i32, i64> {
    let elements = list.elements();
    elements
        .iter()
        .filter_map(|element| match element.offset() {
            Offset::Offset(offset) => Some((element.partition(), offset)),
            _ => None,
        })
        .collect()
}

/// A warning for every topic that the broker does not compact. Who may not ask gets none.
pub(crate) async fn compaction(table: &KafkaTable, topics: &[TopicInfo]) -> Vec<Error> {
    let Ok(admin) = AdminClient::<DefaultClientContext>::from_config(&table.settings.config(Role::Producer)) else {
        return Vec::new();
    };
    let resources: Vec<ResourceSpecifier<'_>> =
        topics.iter().map(|topic| ResourceSpecifier::Topic(&topic.name)).collect();
    let options = AdminOptions::new().request_timeout(Some(CONNECT_TIME_MAX));
    let Ok(answers) = admin.describe_configs(&resources, &options).await else { return Vec::new() };
    let policies = topics.iter().zip(answers).filter_map(|(topic, answer)| {
        let policy = answer.ok()?.get("cleanup.policy")?.value.clone()?;
        (!policy.split(',').any(|word| word.trim() == "compact")).then_some((topic, policy))
    });
    policies
        .map(|(topic, policy)| {
            Error::new(
                &codes::NOT_COMPACTED,
                &[
                    ("topic", &topic.name),
                    ("table", &table.name),
                    ("policy", &policy),
                    ("servers", &table.settings.servers),
                ],
            )
        })
        .collect()
}
