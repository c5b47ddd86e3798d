//! Which files a filesystem source reads: listing a file or folder, and the partition values in folder names.

use super::options::FilesystemOptions;
use crate::codes;
use arrow::array::{ArrayRef, BooleanArray, Date32Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray};
use base::{Error, LogicalType, Result, SqlType};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Folders inside folders: more means a loop of symbolic links.
const DEPTH_MAX: usize = 64;
/// Endings of compressed files.
const COMPRESSED: [&str; 7] = ["gz", "bz2", "xz", "zst", "zip", "deflate", "lz4"];

/// A file that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// As the user gave it, or below what the user gave.
    pub path: PathBuf,
    /// Bytes when it was listed.
    pub size: u64,
    /// Milliseconds since 1970, UTC.
    pub modified_ms: i64,
    /// Another number under the same path is another file.
    pub inode: u64,
}

/// The files of the table in name order; hidden ones (`.` or `_` first) are left out.
///
/// # Errors
/// A path that does not exist or cannot be read.
pub(super) fn list(options: &FilesystemOptions) -> Result<Vec<FileEntry>> {
    let metadata = std::fs::metadata(&options.path).map_err(|cause| read_error(&options.path, &cause))?;
    let mut found = Vec::new();
    if metadata.is_dir() {
        list_folder(&options.path, options, 0, &mut found)?;
    } else {
        found.push(entry(options.path.clone(), &metadata));
    }
    if let Some(file) = found.iter().find(|file| compressed(&file.path)) {
        return Err(Error::unsupported(format!("compressed files ({})", file.path.display())));
    }
    Ok(found)
}

/// An error for a file or folder that cannot be read.
pub(super) fn read_error(path: &Path, cause: &std::io::Error) -> Error {
    Error::io("read", path.display(), cause)
}

fn list_folder(folder: &Path, options: &FilesystemOptions, depth: usize, found: &mut Vec<FileEntry>) -> Result<()> {
    if depth > DEPTH_MAX {
        let cause = std::io::Error::other(format!("folders are nested more than {DEPTH_MAX} deep: a loop of links?"));
        return Err(read_error(folder, &cause));
    }
    let children = std::fs::read_dir(folder).map_err(|cause| read_error(folder, &cause))?;
    let mut names = children
        .map(|child| child.map(|child| child.file_name()).map_err(|cause| read_error(folder, &cause)))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        if name.as_encoded_bytes().first().is_some_and(|first| *first == b'.' || *first == b'_') {
            continue;
        }
        let path = folder.join(name);
        let metadata = match std::fs::metadata(&path) {
            Ok(metadata) => metadata,
            // Renamed or removed since the folder was listed.
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(read_error(&path, &cause)),
        };
        if metadata.is_dir() {
            list_folder(&path, options, depth + 1, found)?;
        } else if matches(&path, options)? {
            found.push(entry(path, &metadata));
        }
    }
    Ok(())
}

fn matches(path: &Path, options: &FilesystemOptions) -> Result<bool> {
    let Some(pattern) = &options.pattern else { return Ok(true) };
    let absolute = std::path::absolute(path).map_err(|cause| read_error(path, &cause))?;
    Ok(pattern.is_match(&absolute.to_string_lossy()))
}

fn entry(path: PathBuf, metadata: &std::fs::Metadata) -> FileEntry {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    FileEntry {
        path,
        size: metadata.len(),
        modified_ms: modified.map_or(0, |since| since.as_millis() as i64),
        inode: metadata.ino(),
    }
}

fn compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| COMPRESSED.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Refuses partition columns of types that a folder name cannot say.
pub(super) fn check_partition_type(sql_type: &SqlType) -> Result<()> {
    use LogicalType::*;
    match &sql_type.logical {
        Char(_) | VarChar(_) | TinyInt | SmallInt | Int | BigInt | Boolean | Date => Ok(()),
        other => Err(Error::unsupported(format!("a partition column of type {other}"))),
    }
}

/// The partition values in the folders of `path`, one array of one row per partition column.
pub(super) fn partition_values(
    path: &Path,
    partitions: &[(String, SqlType)],
    options: &FilesystemOptions,
) -> Result<Vec<ArrayRef>> {
    let below = path.strip_prefix(&options.path).unwrap_or(path);
    let folders: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    partitions
        .iter()
        .map(|(name, sql_type)| {
            let error = |found: &str| {
                Error::new(
                    &codes::PARTITION_VALUE,
                    &[("path", &path.display()), ("column", name), ("type", sql_type), ("found", &found)],
                )
            };
            let folder = folders
                .iter()
                .find_map(|folder| folder.split_once('=').filter(|(key, _)| unescape(key) == *name))
                .ok_or_else(|| error("no such folder"))?;
            let text = (folder.1 != options.partition_default).then(|| unescape(folder.1));
            value(text.as_deref(), &sql_type.logical).ok_or_else(|| error(&format!("'{}'", folder.1)))
        })
        .collect()
}

fn value(text: Option<&str>, logical: &LogicalType) -> Option<ArrayRef> {
    fn parse<T: std::str::FromStr>(text: Option<&str>) -> Option<Option<T>> {
        text.map(|text| text.trim().parse().ok()).map_or(Some(None), |parsed| parsed.map(Some))
    }
    use LogicalType::*;
    Some(match logical {
        Char(_) | VarChar(_) => Arc::new(StringArray::from(vec![text])),
        TinyInt => Arc::new(Int8Array::from(vec![parse::<i8>(text)?])),
        SmallInt => Arc::new(Int16Array::from(vec![parse::<i16>(text)?])),
        Int => Arc::new(Int32Array::from(vec![parse::<i32>(text)?])),
        BigInt => Arc::new(Int64Array::from(vec![parse::<i64>(text)?])),
        Boolean => Arc::new(BooleanArray::from(vec![parse::<bool>(text)?])),
        Date => {
            let epoch = chrono::NaiveDate::default();
            let date = parse::<chrono::NaiveDate>(text)?;
            Arc::new(Date32Array::from(vec![date.map(|date| date.signed_duration_since(epoch).num_days() as i32)]))
        }
        _ => return None,
    })
}

/// Undoes the `%3A` escapes in folder names.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let code = (bytes[index] == b'%')
            .then(|| text.get(index + 1..index + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        out.push(code.unwrap_or(bytes[index]));
        index += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
