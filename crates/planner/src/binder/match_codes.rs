//! What can be wrong with MATCH_RECOGNIZE.

use base::{Domain, ErrorCode, Text};

const fn user(code: &'static str, en: Text, zh: Text) -> ErrorCode {
    ErrorCode { code, domain: Domain::User, retry: false, en, zh }
}

/// A form of the standard that Flink has not either.
pub const MATCH_FEATURE: ErrorCode = user(
    "HW-P630",
    Text {
        what: "MATCH_RECOGNIZE does not support {feature}",
        why: "a pattern is a sequence of variables, each with a quantifier of its own, and gives one row per match, as in Flink",
        fix: "write the pattern as a sequence, for example PATTERN (A B+ C); for alternatives use one variable whose \
              DEFINE has OR, or several queries",
    },
    Text {
        what: "MATCH_RECOGNIZE 不支持 {feature}",
        why: "与 Flink 一样，模式是一串变量，每个变量有自己的量词，每个匹配输出一行",
        fix: "请把模式写成序列，例如 PATTERN (A B+ C)；需要多选一时，请用一个 DEFINE 中带 OR 的变量，或写成多个查询",
    },
);

/// A greedy quantifier at the end.
pub const MATCH_GREEDY_END: ErrorCode = user(
    "HW-P631",
    Text {
        what: "the pattern ends with {element}, which takes as many rows as it can",
        why: "on a stream nobody knows whether the next row belongs to it too, so the match would never end",
        fix: "write a variable behind it that ends the match, or the reluctant form {element}?",
    },
    Text {
        what: "模式以 {element} 结尾，它会尽可能多地匹配行",
        why: "流上无法知道下一行是否也属于它，匹配永远不会结束",
        fix: "请在后面加一个结束匹配的变量，或写成惰性形式 {element}?",
    },
);

/// A pattern that needs no row.
pub const MATCH_EMPTY: ErrorCode = user(
    "HW-P632",
    Text {
        what: "the pattern ({pattern}) matches without any row",
        why: "all its variables are optional, so there would be an empty match at every row",
        fix: "make one of them necessary, for example with + in the place of *",
    },
    Text {
        what: "模式 ({pattern}) 可以匹配零行",
        why: "它的所有变量都可以不出现，每一行处都会有空匹配",
        fix: "请至少让一个变量必须出现，例如把 * 改为 +",
    },
);

/// A variable that is there twice.
pub const MATCH_REPEATED: ErrorCode = user(
    "HW-P633",
    Text {
        what: "the pattern has the variable {name} twice",
        why: "its rows could not be told apart in MEASURES, and Flink has no such patterns",
        fix: "give the second one another name and the same condition in DEFINE",
    },
    Text {
        what: "模式中变量 {name} 出现了两次",
        why: "MEASURES 中无法区分它们的行，Flink 也不支持这样的模式",
        fix: "请给第二个变量换一个名字，并在 DEFINE 中写相同的条件",
    },
);

/// An optional variable right behind a greedy one.
pub const MATCH_OPTIONAL: ErrorCode = user(
    "HW-P634",
    Text {
        what: "{element} follows {previous} in the pattern: an optional variable cannot stand behind a greedy one",
        why: "where the greedy one ends would depend on a row that may not be there; Flink refuses it too",
        fix: "make {previous} reluctant ({previous}?), or {element} necessary",
    },
    Text {
        what: "模式中 {element} 紧跟在 {previous} 之后：可选变量不能跟在贪婪变量之后",
        why: "贪婪变量在哪里结束会取决于可能不存在的行；Flink 同样拒绝",
        fix: "请把 {previous} 写成惰性形式（{previous}?），或让 {element} 必须出现",
    },
);

/// No time attribute first, or descending.
pub const MATCH_ORDER: ErrorCode = user(
    "HW-P635",
    Text {
        what: "MATCH_RECOGNIZE must ORDER BY a time attribute first, ascending, but has: {found}",
        why: "rows of a stream can only be put in an order that the watermark completes",
        fix: "write ORDER BY with the column that has the WATERMARK, or with a PROCTIME() column",
    },
    Text {
        what: "MATCH_RECOGNIZE 必须首先按时间属性升序 ORDER BY，实际是：{found}",
        why: "流中的行只能按 watermark 可以推进的顺序排列",
        fix: "请按带 WATERMARK 的列或 PROCTIME() 列 ORDER BY",
    },
);

/// A variable that the pattern has not.
pub const MATCH_VARIABLE: ErrorCode = user(
    "HW-P636",
    Text {
        what: "the pattern has no variable {name}",
        why: "its variables are: {variables}",
        fix: "use one of them, or write {name} into PATTERN",
    },
    Text {
        what: "模式中没有变量 {name}",
        why: "它的变量有：{variables}",
        fix: "请使用其中之一，或把 {name} 写入 PATTERN",
    },
);

/// An aggregate or offset over rows of two variables.
pub const MATCH_SEVERAL: ErrorCode = user(
    "HW-P637",
    Text {
        what: "{call} reads rows of several variables: {variables}",
        why: "it goes over the rows of one variable, and at each of them the others have no row",
        fix: "use columns of one variable inside, and put calls together outside: SUM(A.x) + SUM(B.x)",
    },
    Text {
        what: "{call} 读取了多个变量的行：{variables}",
        why: "它遍历一个变量的各行，而在这些行上其他变量没有对应的行",
        fix: "括号内只使用一个变量的列，再在外面组合：SUM(A.x) + SUM(B.x)",
    },
);

/// An input with updates.
pub const MATCH_UPDATES: ErrorCode = user(
    "HW-P638",
    Text {
        what: "MATCH_RECOGNIZE cannot read rows that are updated, and {cause} updates them",
        why: "a match that has been given cannot be taken back when one of its rows changes",
        fix: "match the rows before they are aggregated, or aggregate them in windows, which give final rows",
    },
    Text {
        what: "MATCH_RECOGNIZE 不能读取会被更新的行，而 {cause} 会更新它们",
        why: "已经输出的匹配无法在其中某行变化时撤回",
        fix: "请在聚合之前匹配，或使用窗口聚合，它只输出最终结果",
    },
);

/// WITHIN something else than days to milliseconds.
pub const MATCH_WITHIN: ErrorCode = user(
    "HW-P639",
    Text {
        what: "WITHIN takes a positive constant interval of days to seconds, not {found}",
        why: "months differ in length, and the limit is the same for all matches",
        fix: "write for example WITHIN INTERVAL '30' MINUTE",
    },
    Text {
        what: "WITHIN 需要一个正的、由天到秒组成的常量间隔，而不是 {found}",
        why: "月份长短不一，而这个限制对所有匹配都相同",
        fix: "例如写成 WITHIN INTERVAL '30' MINUTE",
    },
);

/// PREV and NEXT.
pub const MATCH_PHYSICAL: ErrorCode = user(
    "HW-P640",
    Text {
        what: "{call}: MATCH_RECOGNIZE cannot go to the row before or after, whatever variable it belongs to",
        why: "only rows of the match are kept; PREV and NEXT count all rows of the partition, and Flink refuses them",
        fix: "use LAST(A.x, 1), the row of the variable A before its last one; in the DEFINE of A that is the one before \
              this row",
    },
    Text {
        what: "{call}：MATCH_RECOGNIZE 不能取前一行或后一行而不论它属于哪个变量",
        why: "只保留匹配中的行；PREV 和 NEXT 数的是分区中所有的行，Flink 也拒绝",
        fix: "请用 LAST(A.x, 1)，即变量 A 倒数第二行；在 A 的 DEFINE 中就是当前行的前一行",
    },
);

/// {0}, or a largest number below the smallest.
pub const MATCH_QUANTIFIER: ErrorCode = user(
    "HW-P641",
    Text {
        what: "{element} in the pattern can have no row",
        why: "the most rows of a quantifier must be at least one, and not fewer than the least",
        fix: "write for example A{1,3}, or leave the variable out",
    },
    Text {
        what: "模式中的 {element} 不能匹配任何行",
        why: "量词的上限至少为 1，且不小于下限",
        fix: "例如写成 A{1,3}，或去掉这个变量",
    },
);

/// No WITHIN: a warning.
pub const MATCH_UNBOUNDED: ErrorCode = user(
    "HW-P642",
    Text {
        what: "the pattern ({pattern}) has no WITHIN, so its state can grow without bound",
        why: "a partial match is kept until another row of its partition ends it, which may never come",
        fix: "say how long a match may last: PATTERN ({pattern}) WITHIN INTERVAL '1' HOUR",
    },
    Text {
        what: "模式 ({pattern}) 没有 WITHIN，状态可能无限增长",
        why: "部分匹配会一直保留，直到同一分区的另一行使它结束，而这一行可能永远不来",
        fix: "请说明匹配最多持续多久：PATTERN ({pattern}) WITHIN INTERVAL '1' HOUR",
    },
);

/// Every code of MATCH_RECOGNIZE.
pub const CODES: &[&ErrorCode] = &[
    &MATCH_FEATURE,
    &MATCH_GREEDY_END,
    &MATCH_EMPTY,
    &MATCH_REPEATED,
    &MATCH_OPTIONAL,
    &MATCH_ORDER,
    &MATCH_VARIABLE,
    &MATCH_SEVERAL,
    &MATCH_UPDATES,
    &MATCH_WITHIN,
    &MATCH_PHYSICAL,
    &MATCH_QUANTIFIER,
    &MATCH_UNBOUNDED,
];
