//! Every problem that functions and casts raise.

use base::{Domain, ErrorCode, Text};

/// Arguments that a function does not take.
pub const WRONG_ARGUMENTS: ErrorCode = ErrorCode {
    code: "HW-T010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "cannot apply '{function}' to arguments of type {types}",
        why: "{why}",
        fix: "supported form: {forms}; convert an argument with CAST(x AS type)",
    },
    zh: Text {
        what: "'{function}' 不能用于类型为 {types} 的参数",
        why: "{why}",
        fix: "支持的形式：{forms}；可用 CAST(x AS 类型) 转换参数",
    },
};

/// A comparison of types that have no common type.
pub const WRONG_COMPARISON: ErrorCode = ErrorCode {
    code: "HW-T011",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "cannot compare {left} with {right}",
        why: "there is no implicit conversion between these types",
        fix: "write the conversion: CAST(x AS {left}) or CAST(x AS {right})",
    },
    zh: Text {
        what: "无法比较 {left} 与 {right}",
        why: "这两种类型之间没有隐式转换",
        fix: "请写出转换：CAST(x AS {left}) 或 CAST(x AS {right})",
    },
};

/// A cast that does not exist.
pub const NO_CAST: ErrorCode = ErrorCode {
    code: "HW-T012",
    domain: Domain::User,
    retry: false,
    en: Text { what: "cannot cast {from} to {to}", why: "{why}", fix: "{fix}" },
    zh: Text { what: "无法将 {from} 转换为 {to}", why: "{why}", fix: "{fix}" },
};

/// Integer or decimal division by zero.
pub const DIVISION_BY_ZERO: ErrorCode = ErrorCode {
    code: "HW-T013",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "division by zero",
        why: "the divisor of an integer or decimal division is 0 in this row",
        fix: "guard the divisor: a / NULLIF(b, 0)",
    },
    zh: Text {
        what: "除数为零", why: "这一行里整数或小数除法的除数是 0", fix: "请保护除数：a / NULLIF(b, 0)"
    },
};

/// A value that a cast cannot convert.
pub const BAD_CAST: ErrorCode = ErrorCode {
    code: "HW-T014",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "cannot convert '{value}' to {to}",
        why: "{why}",
        fix: "TRY_CAST(x AS {to}) gives NULL for such values",
    },
    zh: Text {
        what: "无法将 '{value}' 转换为 {to}", why: "{why}", fix: "TRY_CAST(x AS {to}) 对这样的值返回 NULL"
    },
};

/// A value that a function refuses.
pub const BAD_VALUE: ErrorCode = ErrorCode {
    code: "HW-T015",
    domain: Domain::Data,
    retry: false,
    en: Text { what: "'{function}' failed for the value '{value}'", why: "{why}", fix: "" },
    zh: Text { what: "'{function}' 处理值 '{value}' 失败", why: "{why}", fix: "" },
};

/// A regular expression that cannot be used.
pub const BAD_PATTERN: ErrorCode = ErrorCode {
    code: "HW-T016",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{function}' cannot use the pattern '{pattern}'",
        why: "{why}",
        fix: "check the pattern; look-around and back references are not supported",
    },
    zh: Text {
        what: "'{function}' 无法使用模式 '{pattern}'", why: "{why}", fix: "请检查该模式；不支持环视和反向引用"
    },
};

/// A scalar subquery with more than one row.
pub const MORE_THAN_ONE_ROW: ErrorCode = ErrorCode {
    code: "HW-T017",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a scalar subquery returned more than one row",
        why: "a subquery used as a value must have at most one row",
        fix: "aggregate it, for example with MAX(x), or add a condition",
    },
    zh: Text {
        what: "标量子查询返回了多行",
        why: "作为值使用的子查询最多只能有一行",
        fix: "请对其聚合，例如 MAX(x)，或增加条件",
    },
};

/// A value that its type does not allow in a nested value.
pub const NULL_INSIDE: ErrorCode = ErrorCode {
    code: "HW-T018",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a NULL inside of a nested value, where the type is {type}",
        why: "a function of NOT NULL values gave NULL, for example ELEMENT of an empty array or LPAD to a negative length",
        fix: "give it a value with COALESCE, or make it nullable: NULLIF(x, y), or IF(condition, x, NULL)",
    },
    zh: Text {
        what: "嵌套值中类型为 {type} 的位置出现了 NULL",
        why: "某个参数均为 NOT NULL 的函数返回了 NULL，例如对空数组使用 ELEMENT，或 LPAD 的长度为负",
        fix: "请用 COALESCE 给出一个值，或使其可为空：NULLIF(x, y) 或 IF(condition, x, NULL)",
    },
};

/// Every code of this crate, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &WRONG_ARGUMENTS,
    &WRONG_COMPARISON,
    &NO_CAST,
    &DIVISION_BY_ZERO,
    &BAD_CAST,
    &BAD_VALUE,
    &BAD_PATTERN,
    &MORE_THAN_ONE_ROW,
    &NULL_INSIDE,
];
