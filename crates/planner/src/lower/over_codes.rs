//! What Flink's streaming mode cannot compute over a window.

use base::{Domain, ErrorCode, Text};

const fn user(code: &'static str, en: Text, zh: Text) -> ErrorCode {
    ErrorCode { code, domain: Domain::User, retry: false, en, zh }
}

/// Windows that differ in one SELECT.
pub const SEVERAL_WINDOWS: ErrorCode = user(
    "HW-P610",
    Text {
        what: "one SELECT has different OVER windows: {first}, and {second}",
        why: "all window functions of a SELECT are computed together, over the same PARTITION BY, ORDER BY and frame; \
              ROW_NUMBER always counts ROWS, the others follow RANGE unless they say otherwise",
        fix: "compute one of them in an inner query: SELECT *, f(x) OVER (...) FROM (SELECT *, g(y) OVER (...) FROM t)",
    },
    Text {
        what: "同一个 SELECT 中有不同的 OVER 窗口：{first} 与 {second}",
        why: "一个 SELECT 的所有窗口函数一起计算，PARTITION BY、ORDER BY 和窗口帧必须相同；ROW_NUMBER 总是按 ROWS，其他函数默认按 RANGE",
        fix: "请把其中一个放入内层查询：SELECT *, f(x) OVER (...) FROM (SELECT *, g(y) OVER (...) FROM t)",
    },
);

/// No order, or one of several columns, or of a constant.
pub const OVER_ORDER: ErrorCode = user(
    "HW-P611",
    Text {
        what: "{call} OVER ({found}) must have ORDER BY one column",
        why: "a stream has no end, so a window must say which rows come before a row: by time, or by one other column",
        fix: "write ORDER BY with the column that has the WATERMARK, or with a PROCTIME() column; \
              for one result per group use GROUP BY",
    },
    Text {
        what: "{call} OVER ({found}) 必须按一列 ORDER BY",
        why: "流没有终点，窗口必须说明哪些行在前：按时间，或按另外一列",
        fix: "请按带 WATERMARK 的列或 PROCTIME() 列 ORDER BY；若每组只要一个结果，请用 GROUP BY",
    },
);

/// ORDER BY ... DESC.
pub const OVER_DESCENDING: ErrorCode = user(
    "HW-P612",
    Text {
        what: "{call} OVER (... ORDER BY {column} DESC) is not possible on a stream",
        why: "a window ends at the current row, and in descending order all rows that are still to come would \
              be before it",
        fix: "order by {column} ascending; for the last rows of a group filter ROW_NUMBER() OVER (... ORDER BY \
              {column} DESC) <= n",
    },
    Text {
        what: "流上不能计算 {call} OVER (... ORDER BY {column} DESC)",
        why: "窗口到当前行为止，降序时所有尚未到达的行都在它之前",
        fix: "请按 {column} 升序；若要每组最后几行，请过滤 ROW_NUMBER() OVER (... ORDER BY {column} DESC) <= n",
    },
);

/// A frame that does not end at the current row, or begins there.
pub const OVER_FRAME: ErrorCode = user(
    "HW-P613",
    Text {
        what: "{call} OVER (... {frame}) is not possible on a stream",
        why: "a window must begin at a PRECEDING row and end at CURRENT ROW: rows that follow have not come yet",
        fix: "write ROWS BETWEEN n PRECEDING AND CURRENT ROW, or RANGE BETWEEN INTERVAL '...' PRECEDING AND \
              CURRENT ROW",
    },
    Text {
        what: "流上不能计算 {call} OVER (... {frame})",
        why: "窗口必须从 PRECEDING 的行开始，到 CURRENT ROW 结束：后面的行尚未到达",
        fix: "请写 ROWS BETWEEN n PRECEDING AND CURRENT ROW，或 RANGE BETWEEN INTERVAL '...' PRECEDING AND CURRENT ROW",
    },
);

/// A bounded frame over an order that is no time.
pub const OVER_BOUNDED: ErrorCode = user(
    "HW-P614",
    Text {
        what: "{call} OVER (ORDER BY {column} ... {frame}): {column} is no time attribute",
        why: "only over time can a window begin at a preceding row: in another order a row may come between any two",
        fix: "order by the column that has the WATERMARK or by a PROCTIME() column, or leave the frame out",
    },
    Text {
        what: "{call} OVER (ORDER BY {column} ... {frame})：{column} 不是时间属性",
        why: "只有按时间排序时窗口才能从前面的某行开始：按其他顺序，任意两行之间都可能插入新行",
        fix: "请按带 WATERMARK 的列或 PROCTIME() 列排序，或去掉窗口帧",
    },
);

/// A function that needs to know the whole partition.
pub const OVER_PARTITION: ErrorCode = user(
    "HW-P615",
    Text {
        what: "{name} is not possible on a stream",
        why: "it needs to know how many rows a partition has, and more may come",
        fix: "use ROW_NUMBER, RANK or DENSE_RANK, or run the script with SET 'execution.runtime-mode' = 'batch'",
    },
    Text {
        what: "流上不能计算 {name}",
        why: "它需要知道分区共有多少行，而流中随时可能有新行到达",
        fix: "请改用 ROW_NUMBER、RANK 或 DENSE_RANK，或用 SET 'execution.runtime-mode' = 'batch' 运行脚本",
    },
);

/// LEAD.
pub const OVER_FUTURE: ErrorCode = user(
    "HW-P619",
    Text {
        what: "{name} is not possible on a stream",
        why: "it needs rows that have not come yet",
        fix: "use LAG, which looks back, or run the script with SET 'execution.runtime-mode' = 'batch'",
    },
    Text {
        what: "流上不能计算 {name}",
        why: "它需要尚未到达的行",
        fix: "请改用向前看的 LAG，或用 SET 'execution.runtime-mode' = 'batch' 运行脚本",
    },
);

/// LAG in another order than time.
pub const OVER_LAG_ORDER: ErrorCode = user(
    "HW-P620",
    Text {
        what: "{name} needs ORDER BY a time attribute",
        why: "in any other order a new row may come between a row and the one before it",
        fix: "aggregate with TUMBLE and order by window_time; or join the result with itself on the row before, for example \
              a.dt = b.dt + INTERVAL '1' DAY; or run the script with SET 'execution.runtime-mode' = 'batch'",
    },
    Text {
        what: "{name} 需要按时间属性 ORDER BY",
        why: "按其他顺序，某行与其前一行之间随时可能插入新行",
        fix: "请用 TUMBLE 聚合并按 window_time 排序；或将结果与自身的前一行关联，例如 a.dt = b.dt + INTERVAL '1' DAY；\
              或用 SET 'execution.runtime-mode' = 'batch' 运行脚本",
    },
);

/// The offset of LAG.
pub const LAG_OFFSET: ErrorCode = user(
    "HW-P616",
    Text {
        what: "the offset of {name} is {offset}",
        why: "it must be a constant that is not negative: so many rows are kept",
        fix: "write a number, for example {name}(x, 1)",
    },
    Text {
        what: "{name} 的偏移量是 {offset}",
        why: "它必须是非负常量：需要保留这么多行",
        fix: "请写一个数字，例如 {name}(x, 1)",
    },
);

/// OVER time over rows that are updated.
pub const OVER_UPDATES: ErrorCode = user(
    "HW-P617",
    Text {
        what: "{call} OVER (ORDER BY {column}) reads rows that are updated by {cause}",
        why: "a window over time gives every row once and for ever",
        fix: "compute it before the update, or order by a column that is no time attribute: ORDER BY \
              CAST({column} AS TIMESTAMP(6))",
    },
    Text {
        what: "{call} OVER (ORDER BY {column}) 读取的行会被 {cause} 更新",
        why: "按时间排序的窗口对每一行只给出一次结果，不再更改",
        fix: "请在更新之前计算，或按非时间属性的列排序：ORDER BY CAST({column} AS TIMESTAMP(6))",
    },
);

/// A RANGE over time without an interval.
pub const OVER_RANGE: ErrorCode = user(
    "HW-P618",
    Text {
        what: "{call} OVER (... {frame}): {column} is a time",
        why: "RANGE counts back from the time of the current row",
        fix: "write an interval: RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW, or count rows with ROWS",
    },
    Text {
        what: "{call} OVER (... {frame})：{column} 是时间",
        why: "RANGE 从当前行的时间往前计算",
        fix: "请写时间间隔：RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW，或用 ROWS 按行数计",
    },
);

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &SEVERAL_WINDOWS,
    &OVER_ORDER,
    &OVER_DESCENDING,
    &OVER_FRAME,
    &OVER_BOUNDED,
    &OVER_PARTITION,
    &OVER_FUTURE,
    &OVER_LAG_ORDER,
    &LAG_OFFSET,
    &OVER_UPDATES,
    &OVER_RANGE,
];
