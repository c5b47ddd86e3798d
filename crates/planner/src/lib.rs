//! From Flink SQL to the stream plan: catalog, binding, changelog modes, keys, EXPLAIN, and sessions.
//!
//! A [`Session`] executes one statement after the other. Statements that define something change its catalogs; queries,
//! INSERT and statement sets become a [`PlannedJob`]: they are bound to logical plans (`binder`), lowered to a stream plan
//! (`lower`) and finished with row kinds, keys and ids (`changelog`), by what is known of each kind of operator
//! (`operators`).
//!
//! Invariants: nothing of DataFusion leaves the crate, but for batch mode ([`batch`], [`bridge`], [`nodes`]), which runs
//! logical plans. Nothing is opened while planning.

pub mod batch;
mod binder;
pub mod bridge;
mod cast;
pub mod catalog;
mod changelog;
pub mod codes;
pub mod explain;
mod expression;
mod incomplete;
mod literal;
mod lower;
pub mod nodes;
mod operators;
mod pattern_functions;
mod session;
pub mod statement_codes;
mod statements;
pub mod syntax_codes;
mod table;
pub mod table_codes;
pub mod table_source;
#[cfg(test)]
mod test_support;
mod time_functions;
mod user_functions;
pub mod window_functions;

pub use session::{Environment, Executed, JobKind, Outcome, PlannedJob, ResultSinkFactory, Session};

/// Every code that planning can report, for the catalogue page and its test.
pub fn error_codes() -> impl Iterator<Item = &'static base::ErrorCode> {
    [
        codes::CODES,
        binder::codes::CODES,
        binder::match_codes::CODES,
        binder::over_codes::CODES,
        statement_codes::CODES,
        table_codes::CODES,
        syntax_codes::CODES,
        lower::codes::CODES,
        lower::join_codes::CODES,
        lower::rank_codes::CODES,
        lower::over_codes::CODES,
        lower::window_codes::CODES,
        changelog::codes::CODES,
    ]
    .into_iter()
    .flatten()
    .copied()
}
