//! Where checkpoints are kept: a folder of the local disk, or a prefix in a bucket of a store that speaks S3.
//!
//! Addresses and options are Flink's. What the script does not say about a store comes from the environment (`AWS_*`).
//!
//! Invariant: a secret is in no text that this gives, neither for people nor for debugging.

use crate::config::{SessionOption, used};
use crate::error::{Domain, Error, ErrorCode, Result, Text};
use crate::options::{OptionKind, Options};
use crate::recovery::{DIR, EXECUTION_DIR};
use std::fmt;
use std::path::PathBuf;

/// `s3.endpoint`.
pub const ENDPOINT: SessionOption = used(
    "s3.endpoint",
    OptionKind::Text,
    None,
    "address of an S3-compatible store for checkpoints, http:// or https://; default: AWS_ENDPOINT_URL, else AWS",
    "检查点所用 S3 兼容存储的地址，http:// 或 https://；默认取 AWS_ENDPOINT_URL，否则为 AWS",
);
/// `s3.access-key`.
pub const ACCESS_KEY: SessionOption = used(
    "s3.access-key",
    OptionKind::Text,
    None,
    "access key of the store; default: AWS_ACCESS_KEY_ID, a web identity, or the role of the machine",
    "存储的 access key；默认取 AWS_ACCESS_KEY_ID、web identity 或机器角色",
);
/// `s3.secret-key`.
pub const SECRET_KEY: SessionOption = used(
    "s3.secret-key",
    OptionKind::Text,
    None,
    "secret key of the store, never shown and never saved; default: AWS_SECRET_ACCESS_KEY",
    "存储的 secret key，不会显示也不会保存；默认取 AWS_SECRET_ACCESS_KEY",
);
/// `s3.region`.
pub const REGION: SessionOption = used(
    "s3.region",
    OptionKind::Text,
    None,
    "region of the bucket; default: AWS_REGION, else us-east-1",
    "bucket 所在区域；默认取 AWS_REGION，否则为 us-east-1",
);
/// `s3.endpoint.region`.
pub const ENDPOINT_REGION: SessionOption =
    used("s3.endpoint.region", OptionKind::Text, None, "same as 's3.region'", "同 's3.region'");
/// `s3.path.style.access`.
pub const PATH_STYLE: SessionOption = used(
    "s3.path.style.access",
    OptionKind::Boolean,
    Some("true"),
    "whether the bucket is the first part of the path, or else of the host name",
    "bucket 写在路径的第一段；为 false 时写在主机名中",
);
/// `s3.path-style-access`.
pub const PATH_STYLE_OLD: SessionOption = used(
    "s3.path-style-access",
    OptionKind::Boolean,
    None,
    "same as 's3.path.style.access'",
    "同 's3.path.style.access'",
);

/// An address where checkpoints cannot be kept.
pub const BAD_ADDRESS: ErrorCode = ErrorCode {
    code: "HW-X105",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "checkpoints cannot be kept at {address}",
        why: "'state.checkpoints.dir' takes a path, a file:// address of the local disk, or s3://BUCKET/PREFIX (also s3a:// and s3p://)",
        fix: "many stores speak S3 (MinIO, Ceph, Aliyun OSS, Tencent COS): use an s3:// address and name the store in 's3.endpoint'",
    },
    zh: Text {
        what: "检查点无法保存到 {address}",
        why: "'state.checkpoints.dir' 接受路径、本地磁盘的 file:// 地址，或 s3://BUCKET/PREFIX（也可写 s3a://、s3p://）",
        fix: "许多存储兼容 S3（MinIO、Ceph、阿里云 OSS、腾讯云 COS）：请使用 s3:// 地址，并用 's3.endpoint' 指定存储",
    },
};

/// Where checkpoints are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointDir {
    /// A folder of the local disk.
    Local(PathBuf),
    /// A place in an object store.
    Bucket(Bucket),
}

/// A prefix in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The bucket's name.
    pub name: String,
    /// What all keys begin with, without a slash at either end; may be empty.
    pub prefix: String,
    /// How the store is reached.
    pub access: S3Access,
}

/// How a store is reached. What is `None` comes from the environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct S3Access {
    /// Its address.
    pub endpoint: Option<String>,
    /// The region of the bucket.
    pub region: Option<String>,
    /// The access key.
    pub access_key: Option<String>,
    /// The secret key.
    pub secret_key: Option<String>,
    /// Whether the bucket is the first part of the path.
    pub path_style: Option<bool>,
}

impl fmt::Debug for S3Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Access")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for CheckpointDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointDir::Local(path) => path.display().fmt(f),
            CheckpointDir::Bucket(bucket) if bucket.prefix.is_empty() => write!(f, "s3://{}", bucket.name),
            CheckpointDir::Bucket(bucket) => write!(f, "s3://{}/{}", bucket.name, bucket.prefix),
        }
    }
}

impl CheckpointDir {
    /// The place that a script names, if it does.
    ///
    /// # Errors
    /// An address of another kind.
    pub fn from_options(options: &Options) -> Result<Option<CheckpointDir>> {
        let access = S3Access::from_options(options)?;
        let dir = options.get(DIR.spec.key).or_else(|| options.get(EXECUTION_DIR.spec.key));
        dir.map(|text| CheckpointDir::parse(text, access)).transpose()
    }

    /// Reads a path or an address; `access` is for the latter.
    ///
    /// # Errors
    /// An address of another kind.
    pub fn parse(text: &str, access: S3Access) -> Result<CheckpointDir> {
        if let Some(path) = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")) {
            return Ok(CheckpointDir::Local(PathBuf::from(path)));
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(CheckpointDir::Local(PathBuf::from(text))) };
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        // A user name and password would end up in messages, and scheme://host:port/bucket is another form.
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let parts: Vec<&str> = prefix.split('/').filter(|part| !part.is_empty()).collect();
        let is_part = |part: &&str| !matches!(*part, "." | "..") && !part.contains(char::is_control);
        let is_ours = CheckpointDir::is_bucket(text) && parts.iter().all(is_part);
        if !is_ours || name.is_empty() || !name.chars().all(is_name) {
            let shown = if name.contains('@') { format!("{scheme}://***") } else { text.to_string() };
            return Err(Error::new(&BAD_ADDRESS, &[("address", &shown)]));
        }
        Ok(CheckpointDir::Bucket(Bucket { name: name.into(), prefix: parts.join("/"), access }))
    }

    /// Whether a text is the address of a place in an object store, well-formed or not.
    pub fn is_bucket(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        scheme.is_some_and(|scheme| matches!(scheme.as_str(), "s3" | "s3a" | "s3p"))
    }
}

impl S3Access {
    fn from_options(options: &Options) -> Result<S3Access> {
        let text = |option: &SessionOption| {
            options.get(option.spec.key).map(str::trim).filter(|text| !text.is_empty()).map(str::to_string)
        };
        let flag = |option: &SessionOption| {
            options.get(option.spec.key).is_some().then(|| options.boolean(&option.spec)).transpose()
        };
        Ok(S3Access {
            endpoint: text(&ENDPOINT),
            region: text(&REGION).or_else(|| text(&ENDPOINT_REGION)),
            access_key: text(&ACCESS_KEY),
            secret_key: text(&SECRET_KEY),
            path_style: flag(&PATH_STYLE)?.or(flag(&PATH_STYLE_OLD)?),
        })
    }
}

#[cfg(test)]
#[path = "checkpoint_dir_tests.rs"]
mod tests;
