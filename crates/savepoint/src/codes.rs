//! Errors of savepoints.

use base::{Domain, ErrorCode, Text};

/// Every code of this crate, for the catalogue's test.
pub const CODES: &[&ErrorCode] = &[&DAMAGED, &VERSION, &TAKEN];

/// A savepoint that cannot be read.
pub const DAMAGED: ErrorCode = ErrorCode {
    code: "HW-X201",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{path} is not a whole savepoint",
        why: "{cause}",
        fix: "a savepoint is the folder that `highwater savepoint` names, with savepoint.json and all files beside it; copy it again, or take another one",
    },
    zh: Text {
        what: "{path} 不是完整的保存点",
        why: "{cause}",
        fix: "保存点是 `highwater savepoint` 给出的目录，包含 savepoint.json 及其旁边的全部文件；请重新复制，或使用另一个保存点",
    },
};

/// A savepoint of another layout.
pub const VERSION: ErrorCode = ErrorCode {
    code: "HW-X202",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "savepoint {path} has layout {found}",
        why: "this program reads layout {known}; the savepoint was written by Highwater {engine}",
        fix: "run the script with the version that wrote it",
    },
    zh: Text {
        what: "保存点 {path} 的格式版本为 {found}",
        why: "当前程序读取的格式版本为 {known}；该保存点由 Highwater {engine} 写入",
        fix: "请使用写入它的版本运行脚本",
    },
};

/// A folder that is there already.
pub const TAKEN: ErrorCode = ErrorCode {
    code: "HW-X203",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "cannot write a savepoint to {path}",
        why: "there is something of that name already, and savepoints are never overwritten",
        fix: "name a folder that does not exist",
    },
    zh: Text {
        what: "无法把保存点写入 {path}", why: "该名称已存在，保存点不会被覆盖", fix: "请指定一个不存在的目录"
    },
};
