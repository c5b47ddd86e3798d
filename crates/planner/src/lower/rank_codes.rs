//! What can be wrong with rankings and orders.

use base::{Domain, ErrorCode, Text};

/// RANK or DENSE_RANK as a Top-N.
pub const RANK_FUNCTION: ErrorCode = ErrorCode {
    code: "HW-P540",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function}() cannot limit the rows of a stream",
        why: "rows with equal ranks have no last one, so that the rows that must be kept have no bound; Flink refuses it, too",
        fix: "use ROW_NUMBER() with the same PARTITION BY and ORDER BY; further ORDER BY columns decide between equal rows",
    },
    zh: Text {
        what: "{function}() 不能用来限制流的行数",
        why: "并列的行没有最后一行，需要保留的行没有上限；Flink 同样拒绝",
        fix: "请改用 PARTITION BY 与 ORDER BY 相同的 ROW_NUMBER()；可在 ORDER BY 中增加列来区分并列的行",
    },
};

/// ROW_NUMBER with a lower bound only.
pub const RANK_END: ErrorCode = ErrorCode {
    code: "HW-P541",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the condition on {column} has no upper bound",
        why: "a Top-N keeps the rows up to its last number; without one it would renumber all rows behind every new row",
        fix: "add one, for example {column} <= 100",
    },
    zh: Text {
        what: "对 {column} 的条件没有上界",
        why: "Top-N 保留到最后一个序号为止的行；没有上界时，每来一行都要重排其后的所有行",
        fix: "请加上上界，例如 {column} <= 100",
    },
};

/// ROW_NUMBER up to zero.
pub const RANK_END_ZERO: ErrorCode = ErrorCode {
    code: "HW-P542",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the condition on {column} is true for no row",
        why: "ROW_NUMBER() counts from 1, and the condition ends below that",
        fix: "end at 1 or more: {column} <= 1",
    },
    zh: Text {
        what: "对 {column} 的条件对任何行都不成立",
        why: "ROW_NUMBER() 从 1 开始，而条件的上界小于 1",
        fix: "请让上界不小于 1：{column} <= 1",
    },
};

/// OFFSET without LIMIT.
pub const FETCH_MISSING: ErrorCode = ErrorCode {
    code: "HW-P543",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "OFFSET needs a LIMIT on a stream",
        why: "all rows behind the offset would be kept for ever, and move with every new row",
        fix: "add a LIMIT: LIMIT 100 OFFSET 10, or OFFSET 10 ROWS FETCH NEXT 100 ROWS ONLY",
    },
    zh: Text {
        what: "流上的 OFFSET 需要同时写 LIMIT",
        why: "否则 OFFSET 之后的所有行都要一直保留，并随每个新行移动",
        fix: "请加上 LIMIT：LIMIT 100 OFFSET 10，或 OFFSET 10 ROWS FETCH NEXT 100 ROWS ONLY",
    },
};

/// LIMIT of something that is no number of rows.
pub const LIMIT_COUNT: ErrorCode = ErrorCode {
    code: "HW-P544",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{value} is no number of rows",
        why: "LIMIT, OFFSET and FETCH take whole numbers from 0",
        fix: "write a number: LIMIT 10",
    },
    zh: Text {
        what: "{value} 不是行数",
        why: "LIMIT、OFFSET 和 FETCH 只接受从 0 开始的整数",
        fix: "请写一个数字：LIMIT 10",
    },
};

/// ORDER BY something else than a time.
pub const SORT_TIME: ErrorCode = ErrorCode {
    code: "HW-P545",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "a stream cannot be ordered by {order}",
        why: "its rows have no end: only an ascending time attribute, a column with a WATERMARK, tells when no row can come before another one",
        fix: "add a LIMIT: ORDER BY ... LIMIT 100 keeps the first rows up to date; or order by the WATERMARK column first",
    },
    zh: Text {
        what: "流不能按 {order} 排序",
        why: "流没有终点：只有升序的时间属性列（声明了 WATERMARK）才能说明某一行之前不会再有别的行",
        fix: "请加上 LIMIT：ORDER BY ... LIMIT 100 会持续维护最前面的行；或首先按 WATERMARK 列排序",
    },
};

/// ORDER BY a time over changes.
pub const SORT_UPDATES: ErrorCode = ErrorCode {
    code: "HW-P546",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "rows that are updated cannot be ordered by {order}",
        why: "a row that has been given in its order could be taken back",
        fix: "add a LIMIT, or leave ORDER BY out: a table has no order",
    },
    zh: Text {
        what: "会被更新的行不能按 {order} 排序",
        why: "已按顺序输出的行可能被撤回",
        fix: "请加上 LIMIT，或去掉 ORDER BY：表本身没有顺序",
    },
};

/// A number in ORDER BY that no column has.
pub const ORDER_POSITION: ErrorCode = ErrorCode {
    code: "HW-P547",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "ORDER BY {number} is no column of the query",
        why: "a number in ORDER BY is the place of a column, and the query gives {columns}",
        fix: "write a number from 1 to {columns}, or the name of a column",
    },
    zh: Text {
        what: "ORDER BY {number} 不是查询的列",
        why: "ORDER BY 中的数字是列的位置，而查询共有 {columns} 列",
        fix: "请写 1 到 {columns} 之间的数字，或列名",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &RANK_FUNCTION,
    &RANK_END,
    &RANK_END_ZERO,
    &FETCH_MISSING,
    &LIMIT_COUNT,
    &SORT_TIME,
    &SORT_UPDATES,
    &ORDER_POSITION,
];
