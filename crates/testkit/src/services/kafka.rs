//! A real Apache Kafka: broker and controller of one node in one JVM.
//!
//! Three listeners. CLIENT is what the program under test gets, plain or with SASL, advertised as a test wants it.
//! INTERNAL is always plain and always right: the broker's own and the one of [`Kafka::client`]. CONTROLLER is KRaft's.

use super::java::{KAFKA, ServiceProcess};
use super::{KafkaClient, Service, free_port};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

const HEAP_MB: u32 = 512;
const LOOPBACK: &str = "127.0.0.1";
/// Another program may take a free port before the broker does.
const PORT_ATTEMPTS: usize = 3;

/// How a broker differs from the usual one.
#[derive(Debug, Clone)]
pub struct KafkaOptions {
    /// Whether a topic comes into being when somebody asks for it, as Kafka does by default.
    pub auto_create_topics: bool,
    /// The address that the client listener is bound to.
    pub listen: String,
    /// `host:port` that clients are sent to, when it is not the one that the broker listens on.
    pub advertised: Option<String>,
    /// Clients log in with SASL PLAIN: `admin` (password `admin-secret`) may do everything, `alice` (`alice-secret`)
    /// only what [`KafkaClient::allow`] has allowed.
    pub authorization: bool,
    /// More lines for `server.properties`; a key given here wins.
    pub properties: Vec<(String, String)>,
}

impl Default for KafkaOptions {
    fn default() -> KafkaOptions {
        KafkaOptions {
            auto_create_topics: true,
            listen: LOOPBACK.into(),
            advertised: None,
            authorization: false,
            properties: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    client: u16,
    internal: u16,
    controller: u16,
}

/// A broker with its folder, ports and client. Dropped: killed, folder removed.
#[derive(Debug)]
pub struct Kafka {
    options: KafkaOptions,
    ports: Ports,
    // Before the folder: what is dropped first stops writing into it.
    process: ServiceProcess,
    client: OnceLock<Result<KafkaClient, String>>,
    folder: tempfile::TempDir,
}

impl Kafka {
    /// Starts a broker with an empty folder and waits until it serves.
    ///
    /// # Errors
    /// Jars that cannot be fetched, or a broker that does not start; with what it said.
    pub fn launch(options: KafkaOptions) -> Result<Kafka, String> {
        let mut attempt = 1;
        loop {
            let folder = tempfile::tempdir().map_err(|cause| format!("no temporary folder: {cause}"))?;
            let ports = Ports {
                client: free_port(&options.listen)?,
                internal: free_port(LOOPBACK)?,
                controller: free_port(LOOPBACK)?,
            };
            let kafka = Kafka {
                options: options.clone(),
                ports,
                process: ServiceProcess::default(),
                client: OnceLock::new(),
                folder,
            };
            match kafka.start() {
                Ok(()) => return Ok(kafka),
                Err(problem) if attempt < PORT_ATTEMPTS && problem.contains("Address already in use") => attempt += 1,
                Err(problem) => return Err(problem),
            }
        }
    }

    /// One broker for all tests of a process: its topics need names of their own. Ends with the process.
    ///
    /// # Errors
    /// As [`Kafka::launch`].
    pub fn shared() -> Result<&'static Kafka, String> {
        static SHARED: OnceLock<Result<Kafka, String>> = OnceLock::new();
        SHARED.get_or_init(|| Kafka::launch(KafkaOptions::default())).as_ref().map_err(Clone::clone)
    }

    /// Bootstrap address for the program under test.
    pub fn address(&self) -> String {
        format!("{}:{}", self.options.listen, self.ports.client)
    }

    /// The independent client, started at its first use. Sees everything, whatever the options of the broker.
    ///
    /// # Errors
    /// A client that does not start.
    pub fn client(&self) -> Result<&KafkaClient, String> {
        let address = format!("{LOOPBACK}:{}", self.ports.internal);
        self.client.get_or_init(|| KafkaClient::connect(&address)).as_ref().map_err(Clone::clone)
    }

    /// Starts a stopped broker again: same folder, same ports.
    ///
    /// # Errors
    /// A broker that does not start.
    pub fn start(&self) -> Result<(), String> {
        self.process.start("kafka", "broker is ready", || {
            let file = self.write_properties().map_err(|cause| format!("cannot write server.properties: {cause}"))?;
            let mut command = KAFKA.prepare()?.command("KafkaBroker", HEAP_MB);
            command.arg(file);
            Ok(command)
        })
    }

    /// Ends it with SIGTERM; topics stay.
    ///
    /// # Errors
    /// A broker that does not end.
    pub fn stop(&self) -> Result<(), String> {
        self.process.stop()
    }

    /// Ends it with SIGKILL; topics stay.
    pub fn kill(&self) {
        self.process.kill();
    }

    fn write_properties(&self) -> std::io::Result<PathBuf> {
        let file = self.folder.path().join("server.properties");
        std::fs::write(&file, self.properties())?;
        Ok(file)
    }

    fn properties(&self) -> String {
        let Ports { internal, controller, .. } = self.ports;
        let address = self.address();
        let advertised = self.options.advertised.as_ref().unwrap_or(&address);
        let protocol = if self.options.authorization { "SASL_PLAINTEXT" } else { "PLAINTEXT" };
        let data = self.folder.path().join("data");
        let mut text = format!(
            "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{LOOPBACK}:{controller}
controller.listener.names=CONTROLLER
listeners=CLIENT://{address},INTERNAL://{LOOPBACK}:{internal},CONTROLLER://{LOOPBACK}:{controller}
advertised.listeners=CLIENT://{advertised},INTERNAL://{LOOPBACK}:{internal}
listener.security.protocol.map=CLIENT:{protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
log.dirs={}
auto.create.topics.enable={}
",
            data.display(),
            self.options.auto_create_topics,
        );
        text.push_str(ONE_NODE);
        if self.options.authorization {
            text.push_str(AUTHORIZATION);
        }
        for (key, value) in &self.options.properties {
            // The last line of a key wins. Writing to a string cannot fail.
            let _ = writeln!(text, "{key}={value}");
        }
        text
    }
}

/// Nothing is replicated, nothing waits, and records of any year stay: scenarios carry timestamps of their own.
/// A killed broker is forgotten after the session timeout: only then may it come back.
const ONE_NODE: &str = "num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
transaction.max.timeout.ms=900000
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
log.retention.ms=-1
log.message.timestamp.after.max.ms=9223372036854775807
log.cleaner.dedupe.buffer.size=2097152
";

const AUTHORIZATION: &str = "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
listener.name.client.sasl.enabled.mechanisms=PLAIN
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
user_admin=\"admin-secret\" user_alice=\"alice-secret\";
";

impl Service for Kafka {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![("KAFKA", self.address())]
    }

    fn stop(&mut self) -> Result<(), String> {
        Kafka::stop(self)
    }
}
