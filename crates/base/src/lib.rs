//! The waist of Highwater: what every other crate speaks, and nothing that does work of its own.
//!
//! Types and their Arrow form, changelog batches, the events that flow between operators, the stream plan, key hashing,
//! options, errors, and the traits behind which expressions, functions, connectors and formats live.
//!
//! Invariants: this crate knows no I/O, no async runtime, no DataFusion. It changes rarely, because everything is
//! rebuilt after it.

pub mod changelog;
pub mod checkpoint_dir;
pub mod clock;
pub mod config;
pub mod connector;
pub mod error;
pub mod event;
pub mod expression;
pub mod fault;
pub mod format;
pub mod function;
pub mod key;
pub mod lookup;
pub mod nearest;
pub mod options;
pub mod plan;
pub mod recovery;
pub mod table;
pub mod text;
pub mod time;
pub mod types;
pub mod warnings;
pub mod watermark_options;

pub use changelog::{ChangelogBatch, ChangelogMode, RowKind};
pub use error::{Domain, Error, ErrorCode, Language, Location, Result, Text};
pub use event::{Epoch, Event};
pub use expression::Expression;
pub use options::{OptionKind, OptionSpec, Options};
pub use table::{Column, ColumnKind, ObjectPath, PartitionField, PartitionTransform, TableDefinition};
pub use types::{Field, LogicalType, RowType, SqlType, TimeAttribute};
pub use warnings::Warnings;

/// A boxed future, so that traits in this crate can be async without an async runtime.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// Every error code of this crate, for the catalogue's test.
pub const CODES: &[&ErrorCode] = &[
    &error::INTERNAL,
    &error::UNSUPPORTED,
    &error::IO_NOT_FOUND,
    &error::IO_PERMISSION,
    &error::IO_FULL,
    &error::IO,
    &options::UNKNOWN_OPTION,
    &options::STRANGE_OPTION,
    &options::MISSING_OPTION,
    &options::BAD_OPTION,
    &options::MISSPELT_OPTION,
    &checkpoint_dir::BAD_ADDRESS,
    &types::BAD_TYPE,
];
