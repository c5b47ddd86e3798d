//! Flink SQL statements: from the text of a script to syntax trees with positions.
//!
//! Three steps, each usable alone:
//!
//! 1. [`Script`] owns a text and yields one [`RawStatement`] after the other. It splits lazily, so that a mistake in
//!    one statement does not hide the statements before it.
//! 2. [`parse`] reads one statement. Flink's own statements (DDL, session commands, statement sets) have a grammar
//!    here; queries and expressions are read by `sqlparser` with [`dialect::FlinkDialect`] and stay `sqlparser` trees.
//! 3. What `sqlparser`'s trees cannot say is carried by marker functions, all listed in [`dialect`].
//!
//! Every position, that of an error as well as that of a node, is relative to the script: line and column count from 1,
//! columns count characters.
#![warn(missing_docs)]

mod charsets;
mod cursor;
mod ddl;
pub mod dialect;
mod dml;
mod error;
mod hints;
mod keywords;
mod limits;
mod names;
mod parser;
mod refine;
mod rewrite;
mod scan;
mod script;
mod session;
mod source;
pub mod statement;
mod table;
mod types;
mod variables;

pub use error::{SyntaxError, SyntaxErrorKind};
pub use hints::{Hint, select_hints, table_hints};
pub use keywords::is_reserved;
pub use limits::{CHAIN_MAX, DEPTH_MAX};
pub use parser::{parse, parse_statement};
pub use script::{RawStatement, Script, Statements};
pub use sqlparser::ast;
pub use sqlparser::tokenizer::{Location, Span};
pub use statement::Statement;
pub use types::{RowField, TypeKind, TypeName};
pub use variables::{MissingVariable, substitute};
