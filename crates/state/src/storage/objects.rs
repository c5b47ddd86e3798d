//! A prefix in a bucket of a store that speaks S3. An object appears as a whole when its upload is complete.
//!
//! The library is asynchronous, its callers are not, and some of them stand inside another runtime: requests run on
//! threads of their own, and whoever asks waits for the answer.
//!
//! Invariants: no more than two parts of an upload are in memory; a message holds no key.

use super::{Files, NewFile, Storage};
use crate::codes::{BUCKET_MISSING, STORE_AWAY, STORE_REFUSES};
use crate::lock::FileLock;
use base::checkpoint_dir::{ACCESS_KEY, Bucket, S3Access, SECRET_KEY};
use base::{Error, ErrorCode, Result, fault};
use futures_util::StreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::path::Path;
use object_store::{
    BackoffConfig, GetOptions, ListResult, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
    StaticCredentialProvider,
};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Uploads have parts of this size; whatever is smaller goes in one request. A store takes ten thousand parts.
const PART: usize = 8 << 20;
/// So much is asked for at once.
const PIECE: u64 = 8 << 20;
/// For so long a store that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(8);

#[derive(Debug, Clone)]
pub(super) struct ObjectStorage {
    store: Arc<AmazonS3>,
    bucket: Arc<str>,
    /// What all keys begin with, without a slash at either end.
    prefix: String,
}

impl ObjectStorage {
    /// Nothing is asked of the store yet.
    pub(super) fn connect(bucket: &Bucket) -> Result<ObjectStorage> {
        let address = format!("s3://{}", bucket.name);
        let store = builder(bucket)?.build().map_err(|error| refused("use", &address, &innermost(&error)))?;
        Ok(ObjectStorage { store: Arc::new(store), bucket: bucket.name.as_str().into(), prefix: bucket.prefix.clone() })
    }

    fn key(&self, name: &str) -> Result<Path> {
        Path::parse(join(&self.prefix, name)).map_err(Error::internal)
    }

    fn list(&self) -> Result<ListResult> {
        let (store, prefix) = (self.store.clone(), self.key("")?);
        let listed = wait(async move { store.list_with_delimiter(Some(&prefix)).await })?;
        listed.map_err(|error| self.error("read", "", &error))
    }

    fn get(&self, name: &str, range: Option<Range<u64>>) -> Result<object_store::Result<bytes::Bytes>> {
        let (store, key) = (self.store.clone(), self.key(name)?);
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        wait(async move { store.get_opts(&key, options).await?.bytes().await })
    }

    fn error(&self, action: &str, name: &str, error: &object_store::Error) -> Error {
        told(action, &self.address(name), error)
    }
}

fn join(prefix: &str, name: &str) -> String {
    match (prefix, name) {
        ("", name) => name.to_string(),
        (prefix, "") => prefix.to_string(),
        (prefix, name) => format!("{prefix}/{name}"),
    }
}

/// What the script says, else what the environment says.
fn builder(bucket: &Bucket) -> Result<AmazonS3Builder> {
    let S3Access { endpoint, region, access_key, secret_key, path_style } = &bucket.access;
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: 10, retry_timeout: PATIENCE };
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(&bucket.name).with_retry(retry);
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    if let Some(path_style) = path_style {
        builder = builder.with_virtual_hosted_style_request(!path_style);
    }
    match (access_key, secret_key) {
        (Some(key), Some(secret)) => {
            // A token in the environment belongs to other keys.
            let credential = AwsCredential { key_id: key.clone(), secret_key: secret.clone(), token: None };
            builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential)));
        }
        (None, None) => {}
        (key, _) => {
            let missing = if key.is_none() { ACCESS_KEY.spec.key } else { SECRET_KEY.spec.key };
            let cause = format!("'{missing}' is not set, the other key is");
            return Err(refused("use", &format!("s3://{}", bucket.name), &cause));
        }
    }
    let known = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoint.clone().or_else(|| known.iter().find_map(|key| builder.get_config_value(key)));
    if let Some(endpoint) = endpoint {
        let endpoint = if endpoint.contains("://") { endpoint } else { format!("https://{endpoint}") };
        let is_plain = endpoint.starts_with("http://");
        let endpoint = match (path_style, endpoint.split_once("://")) {
            (Some(false), Some((scheme, host))) => format!("{scheme}://{}.{host}", bucket.name),
            _ => endpoint,
        };
        let key = AmazonS3ConfigKey::S3Endpoint;
        builder = builder.with_config(key, endpoint.trim_end_matches('/')).with_allow_http(is_plain);
    }
    Ok(builder)
}

impl Storage for ObjectStorage {
    fn address(&self, name: &str) -> String {
        format!("s3://{}", join(&self.bucket, &join(&self.prefix, name)))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn below(&self, name: &str) -> Arc<dyn Storage> {
        Arc::new(ObjectStorage { prefix: join(&self.prefix, name), ..self.clone() })
    }

    fn folders(&self) -> Result<Vec<String>> {
        let prefixes = self.list()?.common_prefixes;
        Ok(prefixes.iter().filter_map(|prefix| prefix.filename().map(str::to_string)).collect())
    }

    fn files(&self) -> Result<Files> {
        let objects = self.list()?.objects;
        Ok(objects.iter().filter_map(|object| Some((object.location.filename()?.to_string(), object.size))).collect())
    }

    fn take(&self) -> Result<Option<FileLock>> {
        Ok(None)
    }

    fn give_back(&self, _: FileLock) {}

    fn create(&self, name: &str) -> io::Result<Box<dyn NewFile>> {
        let upload = Upload {
            store: self.store.clone(),
            key: self.key(name).map_err(io::Error::other)?,
            address: self.address(name),
            buffer: Vec::new(),
            multipart: None,
            pending: None,
        };
        Ok(Box::new(upload))
    }

    fn publish(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let at = |point: fault::Point| point.pass().map_err(|cause| Error::io("write", self.address(name), &cause));
        at(fault::MANIFEST_WRITE)?;
        let (store, key) = (self.store.clone(), self.key(name)?);
        let payload = PutPayload::from(bytes.to_vec());
        at(fault::MANIFEST_RENAME)?;
        let put = wait(async move { store.put(&key, payload).await })?;
        at(fault::MANIFEST_FOLDER_SYNC)?;
        put.map(|_| ()).map_err(|error| self.error("write", name, &error))
    }

    fn read(&self, name: &str, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut from = range.start;
        while from < range.end {
            let piece = from..range.end.min(from + PIECE);
            let bytes = match self.get(name, Some(piece.clone()))? {
                Ok(bytes) => bytes,
                Err(error) if status(&text(&error)) == Some(416) => break,
                Err(error) => return Err(self.error("read", name, &error)),
            };
            take(&bytes);
            from += bytes.len() as u64;
            if (bytes.len() as u64) < piece.end - piece.start {
                break;
            }
        }
        Ok(())
    }

    fn remove(&self, names: &[String]) -> Result<()> {
        let keys = names.iter().map(|name| self.key(name)).collect::<Result<Vec<_>>>()?;
        let store = self.store.clone();
        let removed = wait(async move {
            let keys = futures_util::stream::iter(keys.into_iter().map(Ok)).boxed();
            let mut removed = store.delete_stream(keys);
            let mut failed = None;
            while let Some(result) = removed.next().await {
                failed = failed.or(result.err());
            }
            failed
        })?;
        match removed {
            // What is gone already is gone.
            None | Some(object_store::Error::NotFound { .. }) => Ok(()),
            Some(error) => Err(self.error("remove", names.first().map_or("", String::as_str), &error)),
        }
    }

    fn settle(&self) -> Result<()> {
        Ok(())
    }
}

/// An object on its way: one request if it is small, else in parts, of which one is sent while the next one is filled.
struct Upload {
    store: Arc<AmazonS3>,
    key: Path,
    address: String,
    buffer: Vec<u8>,
    multipart: Option<Box<dyn MultipartUpload>>,
    pending: Option<Receiver<object_store::Result<()>>>,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Upload {
    fn error(&self, error: &object_store::Error) -> Error {
        told("write", &self.address, error)
    }

    fn send_part(&mut self) -> Result<()> {
        self.wait_for_part()?;
        let part = std::mem::take(&mut self.buffer);
        let mut multipart = match self.multipart.take() {
            Some(multipart) => multipart,
            None => {
                let (store, key) = (self.store.clone(), self.key.clone());
                wait(async move { store.put_multipart(&key).await })?.map_err(|error| self.error(&error))?
            }
        };
        self.pending = Some(ask(multipart.put_part(part.into()))?);
        self.multipart = Some(multipart);
        Ok(())
    }

    fn wait_for_part(&mut self) -> Result<()> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        answer(pending)?.map_err(|error| self.error(&error))
    }

    fn complete(&mut self) -> Result<()> {
        if self.multipart.is_some() && !self.buffer.is_empty() {
            self.send_part()?;
        }
        self.wait_for_part()?;
        let (store, key) = (self.store.clone(), self.key.clone());
        let done = match self.multipart.take() {
            None => {
                let bytes = std::mem::take(&mut self.buffer);
                wait(async move { store.put(&key, bytes.into()).await })?
            }
            Some(mut multipart) => {
                let (done, multipart) = wait(async move { (multipart.complete().await, multipart) })?;
                self.multipart = done.is_err().then_some(multipart);
                done
            }
        };
        done.map(|_| ()).map_err(|error| self.error(&error))
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART {
            self.send_part().map_err(io::Error::other)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Upload {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.complete().map_err(io::Error::other)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Parts without an end cost money. Nobody waits for it: what stays is for the bucket's own rules.
        if let Some(mut multipart) = self.multipart.take() {
            let _ = ask(async move { multipart.abort().await });
        }
    }
}

/// Starts a request.
fn ask<T: Send + 'static>(request: impl Future<Output = T> + Send + 'static) -> Result<Receiver<T>> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("objects").enable_all().build().ok()
    });
    let runtime = runtime.as_ref().ok_or_else(|| Error::internal("no threads for requests to an object store"))?;
    let (sender, receiver) = sync_channel(1);
    runtime.spawn(async move {
        // Whoever has asked may have given up.
        let _ = sender.send(request.await);
    });
    Ok(receiver)
}

fn answer<T>(receiver: Receiver<T>) -> Result<T> {
    receiver.recv().map_err(|_| Error::internal("a request to an object store panicked"))
}

/// Waits for a request.
fn wait<T: Send + 'static>(request: impl Future<Output = T> + Send + 'static) -> Result<T> {
    answer(ask(request)?)
}

/// What went wrong, as an error for people that also says whether it can pass.
fn told(action: &str, address: &str, error: &object_store::Error) -> Error {
    let text = text(error);
    let status = status(&text);
    let code: &ErrorCode = match status {
        _ if text.contains("NoSuchBucket") => &BUCKET_MISSING,
        Some(404) => return Error::io(action, address, &io::Error::from(io::ErrorKind::NotFound)),
        // The machine is asked for its role when nobody has given keys.
        None if text.contains("/latest/api/token") => {
            return refused(action, address, "no keys are given, and this machine has no role in AWS");
        }
        None if text.contains("redirect without LOCATION") => &STORE_REFUSES,
        None | Some(408 | 409 | 412 | 429 | 500 | 502..) => &STORE_AWAY,
        Some(_) => &STORE_REFUSES,
    };
    let said = match (tag(&text, "Code"), tag(&text, "Message"), status) {
        (Some(code), Some(message), _) => format!("{code}: {message}"),
        (Some(code), None, _) => code.to_string(),
        (None, _, Some(status)) => format!("it answered with status {status}"),
        (None, _, None) => innermost(error),
    };
    Error::new(code, &[("action", &action), ("address", &address), ("cause", &said)])
}

fn refused(action: &str, address: &str, cause: &str) -> Error {
    Error::new(&STORE_REFUSES, &[("action", &action), ("address", &address), ("cause", &cause)])
}

/// An error with all its causes: the library keeps the status of an answer to itself.
fn text(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}\n{next}");
        cause = next.source();
    }
    text
}

fn innermost(error: &object_store::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    innermost.to_string()
}

fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// The content of an element of the answer.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once(&format!("</{name}>"))?;
    Some(content.trim()).filter(|content| !content.is_empty())
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
