//! The problems that state can have.

use base::{Domain, ErrorCode, Text};

/// A table of a checkpoint has other columns than the operator that takes it over.
pub const STATE_COLUMNS_DIFFER: ErrorCode = ErrorCode {
    code: "HW-X100",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the saved state of {table} does not fit the statement any more",
        why: "column {column} is {found} in the checkpoint, the statement needs {expected}",
        fix: "run the script as it was, or start it without the checkpoint",
    },
    zh: Text {
        what: "{table} 已保存的状态与当前语句不符",
        why: "检查点中的列 {column} 是 {found}，语句需要 {expected}",
        fix: "请运行原来的脚本，或不带检查点重新启动",
    },
};

/// Every code of this crate.
pub const CODES: &[&ErrorCode] = &[&STATE_COLUMNS_DIFFER];
