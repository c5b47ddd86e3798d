//! Jars of outside systems and the Java programs of `java/`: fetched and compiled once per machine, kept outside the checkout.

use crate::child::{ChildProcess, lock};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Version of Apache Kafka.
pub const KAFKA_VERSION: &str = "4.1.1";
/// Version of S3Proxy.
pub const S3PROXY_VERSION: &str = "3.0.0";

/// What ends a program with whoever started it.
const PARENT: (&str, &str) = ("Parent.java", include_str!("../../java/Parent.java"));
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// Jars from Maven, and programs of ours that need them.
#[derive(Debug)]
pub struct Library {
    /// Of the folder that they are kept in.
    name: &'static str,
    version: &'static str,
    /// The dependencies as Maven reads them; `VERSION` stands for the version.
    dependencies: &'static str,
    /// One of the jars.
    jar: &'static str,
    sources: &'static [(&'static str, &'static str)],
    prepared: OnceLock<Result<Java, String>>,
}

/// A broker and its client.
pub static KAFKA: Library = Library {
    name: "kafka",
    version: KAFKA_VERSION,
    dependencies: "
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>VERSION</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>",
    jar: "kafka_2.13-VERSION.jar",
    sources: &[
        ("KafkaBroker.java", include_str!("../../java/KafkaBroker.java")),
        ("KafkaClient.java", include_str!("../../java/KafkaClient.java")),
        PARENT,
    ],
    prepared: OnceLock::new(),
};

/// A store that speaks S3.
pub static S3PROXY: Library = Library {
    name: "s3proxy",
    version: S3PROXY_VERSION,
    dependencies: "
    <dependency>
      <groupId>org.gaul</groupId>
      <artifactId>s3proxy</artifactId>
      <version>VERSION</version>
      <exclusions>
        <exclusion><groupId>ch.qos.logback</groupId><artifactId>logback-classic</artifactId></exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>2.0.17</version>
    </dependency>",
    jar: "s3proxy-VERSION.jar",
    sources: &[("S3Store.java", include_str!("../../java/S3Store.java")), PARENT],
    prepared: OnceLock::new(),
};

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>highwater.testkit</groupId>
  <artifactId>NAME</artifactId>
  <version>1</version>
  <dependencies>DEPENDENCIES
  </dependencies>
</project>
"#;

/// Where jars and classes are.
#[derive(Debug, Clone)]
pub struct Java {
    libraries: PathBuf,
    classes: PathBuf,
}

impl Library {
    /// Fetches and compiles what is missing.
    ///
    /// # Errors
    /// No JDK, no Maven, no network.
    pub fn prepare(&'static self) -> Result<&'static Java, String> {
        self.prepared.get_or_init(|| prepare_in(&cache_folder(), self)).as_ref().map_err(Clone::clone)
    }
}

impl Java {
    /// A JVM that starts fast, for one of the programs.
    pub fn command(&self, main_class: &str, heap_mb: u32) -> Command {
        let mut command = Command::new("java");
        command.args(["-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.arg(format!("-Xmx{heap_mb}m"));
        command.arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        command.arg("-cp").arg(class_path(&[&self.classes], &self.libraries));
        command.arg(main_class);
        command
    }
}

/// The process of an outside system, which can be stopped and started again. Dropped: killed.
#[derive(Debug, Default)]
pub struct ServiceProcess(Mutex<Option<ChildProcess>>);

impl ServiceProcess {
    /// Starts it, unless it runs, and waits until it says that it is `ready`.
    ///
    /// # Errors
    /// One that does not start; with what it said.
    pub fn start(
        &self,
        name: &'static str,
        ready: &'static str,
        command: impl FnOnce() -> Result<Command, String>,
    ) -> Result<(), String> {
        let mut running = lock(&self.0);
        if running.is_some() {
            return Ok(());
        }
        let mut command = command()?;
        // In a group of its own: Ctrl-C reaches whoever started it, who then stops it in order.
        command.process_group(0);
        let mut process = ChildProcess::spawn(name, &mut command, Some(ready), None)?;
        process.wait_ready(START_TIMEOUT)?;
        *running = Some(process);
        Ok(())
    }

    /// Ends it with SIGTERM.
    ///
    /// # Errors
    /// One that does not end.
    pub fn stop(&self) -> Result<(), String> {
        match lock(&self.0).take() {
            Some(mut process) => process.terminate(STOP_TIMEOUT).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Ends it with SIGKILL.
    pub fn kill(&self) {
        *lock(&self.0) = None;
    }
}

fn class_path(folders: &[&Path], libraries: &Path) -> String {
    let mut parts: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    parts.push(libraries.join("*").display().to_string());
    parts.join(":")
}

fn cache_folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("highwater-testkit")
}

/// One process at a time prepares; what it makes appears under its final name only when it is whole.
fn prepare_in(cache: &Path, library: &Library) -> Result<Java, String> {
    let failed = |what: &str, cause: std::io::Error| format!("cannot {what} in {}: {cause}", cache.display());
    fs::create_dir_all(cache).map_err(|cause| failed("create a folder", cause))?;
    let lock = File::create(cache.join("lock")).map_err(|cause| failed("create a lock", cause))?;
    lock.lock().map_err(|cause| failed("lock", cause))?;
    let home = cache.join(format!("{}-{}", library.name, library.version));
    let libraries = home.join("lib");
    if !libraries.is_dir() {
        let part = tempfile::tempdir_in(cache).map_err(|cause| failed("create a folder", cause))?;
        fetch(part.path(), library)?;
        fs::create_dir_all(&home).map_err(|cause| failed("create a folder", cause))?;
        fs::rename(part.path().join("lib"), &libraries).map_err(|cause| failed("rename", cause))?;
    }
    let classes = home.join(format!("classes-{:016x}", sources_hash(library)));
    if !classes.is_dir() {
        let part = tempfile::tempdir_in(cache).map_err(|cause| failed("create a folder", cause))?;
        compile(part.path(), &libraries, library)?;
        fs::rename(part.path().join("classes"), &classes).map_err(|cause| failed("rename", cause))?;
    }
    Ok(Java { libraries, classes })
}

fn fetch(folder: &Path, library: &Library) -> Result<(), String> {
    let pom = folder.join("pom.xml");
    let dependencies = library.dependencies.replace("VERSION", library.version);
    let text = POM.replace("NAME", library.name).replace("DEPENDENCIES", &dependencies);
    fs::write(&pom, text).map_err(|cause| cause.to_string())?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-f"]).arg(&pom);
    run(maven.current_dir(folder), "install Maven (Debian: maven)")?;
    let jar = folder.join("lib").join(library.jar.replace("VERSION", library.version));
    if jar.exists() { Ok(()) } else { Err(format!("Maven did not fetch {}", jar.display())) }
}

fn compile(folder: &Path, libraries: &Path, library: &Library) -> Result<(), String> {
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-d", "classes", "-cp"]).arg(class_path(&[], libraries)).current_dir(folder);
    for (name, text) in library.sources {
        fs::write(folder.join(name), text).map_err(|cause| cause.to_string())?;
        javac.arg(name);
    }
    run(&mut javac, "install a JDK, 17 or later (Debian: default-jdk-headless)")
}

fn run(command: &mut Command, hint: &str) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|cause| format!("cannot run {program}: {cause}\n  hint: {hint}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{program} failed ({})\n{}", output.status, String::from_utf8_lossy(&said)))
}

fn sources_hash(library: &Library) -> u64 {
    let mut hasher = DefaultHasher::new();
    library.sources.hash(&mut hasher);
    hasher.finish()
}
