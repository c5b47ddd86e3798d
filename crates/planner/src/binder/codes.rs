//! What can be wrong with the names and times of a query, told with what would make it right.

use base::{Domain, ErrorCode, Text};

/// A table of a query that does not exist while a similar one does.
pub const MISSING_TABLE_NEAR: ErrorCode = ErrorCode {
    code: "HW-P300",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "no statement before this one defines it; names are case-sensitive",
        fix: "did you mean {nearest}? if not, define it first, with the columns that the query uses:\n\
              {skeleton}",
    },
    zh: Text {
        what: "表或视图 {name} 不存在",
        why: "此前没有语句定义它；名称区分大小写",
        fix: "是否想写 {nearest}？若不是，请先定义该表，列取自查询：\n\
              {skeleton}",
    },
};

/// A table of a query that does not exist, and nothing similar does.
pub const MISSING_TABLE: ErrorCode = ErrorCode {
    code: "HW-P301",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "no statement before this one defines it; the database has: {names}",
        fix: "define it first, with the columns that the query uses:\n\
              {skeleton}",
    },
    zh: Text {
        what: "表或视图 {name} 不存在",
        why: "此前没有语句定义它；数据库中有：{names}",
        fix: "请先定义该表，列取自查询：\n\
              {skeleton}",
    },
};

/// A table of a query in a database without tables.
pub const MISSING_FIRST_TABLE: ErrorCode = ErrorCode {
    code: "HW-P302",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "no statement before this one defines a table",
        fix: "define it first, with the columns that the query uses:\n\
              {skeleton}",
    },
    zh: Text {
        what: "表或视图 {name} 不存在",
        why: "此前没有语句定义过表",
        fix: "请先定义该表，列取自查询：\n\
              {skeleton}",
    },
};

/// A table of a catalog that does not exist.
pub const UNKNOWN_CATALOG: ErrorCode = ErrorCode {
    code: "HW-P303",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "catalog {catalog} of table {name} does not exist",
        why: "no statement before this one makes it; there are: {known}",
        fix: "make the catalog first, then the table if the catalog does not have it:\n\
              CREATE CATALOG {catalog} WITH ('type' = '...');\n\
              {skeleton}",
    },
    zh: Text {
        what: "表 {name} 的 catalog {catalog} 不存在",
        why: "此前没有语句创建它；现有：{known}",
        fix: "请先创建 catalog；若其中没有该表，再定义表：\n\
              CREATE CATALOG {catalog} WITH ('type' = '...');\n\
              {skeleton}",
    },
};

/// A table of a database that does not exist.
pub const UNKNOWN_DATABASE: ErrorCode = ErrorCode {
    code: "HW-P304",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "database {database} of table {name} does not exist",
        why: "catalog {catalog} has: {known}; the nearest name is {nearest}",
        fix: "make the database first, then the table if it is not there:\n\
              CREATE DATABASE IF NOT EXISTS {catalog}.{database};\n\
              {skeleton}",
    },
    zh: Text {
        what: "表 {name} 的数据库 {database} 不存在",
        why: "catalog {catalog} 中有：{known}；最接近的名称是 {nearest}",
        fix: "请先创建数据库；若其中没有该表，再定义表：\n\
              CREATE DATABASE IF NOT EXISTS {catalog}.{database};\n\
              {skeleton}",
    },
};

/// A qualifier that is no table of FROM.
pub const UNKNOWN_QUALIFIER: ErrorCode = ErrorCode {
    code: "HW-P305",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{qualifier} in {name} is no table or alias of this query",
        why: "FROM has: {known}",
        fix: "write one of them before the dot",
    },
    zh: Text {
        what: "{name} 中的 {qualifier} 不是该查询的表或别名",
        why: "FROM 中有：{known}",
        fix: "请在点号前写其中之一",
    },
};

/// A qualifier that is no table of FROM, while a similar one is.
pub const UNKNOWN_QUALIFIER_NEAR: ErrorCode = ErrorCode {
    code: "HW-P306",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{qualifier} in {name} is no table or alias of this query",
        why: "a table with an alias is known by the alias only; names are case-sensitive",
        fix: "did you mean {nearest}?",
    },
    zh: Text {
        what: "{name} 中的 {qualifier} 不是该查询的表或别名",
        why: "有别名的表只能用别名引用；名称区分大小写",
        fix: "是否想写 {nearest}？",
    },
};

/// A column that does not exist but can be computed.
pub const UNKNOWN_COLUMN_EXPRESSION: ErrorCode = ErrorCode {
    code: "HW-P307",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} does not exist",
        why: "columns here: {columns}",
        fix: "compute it from {nearest}: write {expression} in its place, or add to CREATE TABLE {table} the line: {bare} AS {expression}",
    },
    zh: Text {
        what: "列 {name} 不存在",
        why: "可用的列：{columns}",
        fix: "可由 {nearest} 计算：在该处写 {expression}，或在 CREATE TABLE {table} 中加上：{bare} AS {expression}",
    },
};

/// GROUP BY with the number of a column.
pub const GROUP_BY_ORDINAL: ErrorCode = ErrorCode {
    code: "HW-P308",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "GROUP BY {number} groups by the constant {number}, not by column {number}",
        why: "Flink SQL knows no column numbers in GROUP BY",
        fix: "write the expression itself: GROUP BY {expression}",
    },
    zh: Text {
        what: "GROUP BY {number} 是按常量 {number} 分组，而不是按第 {number} 列",
        why: "Flink SQL 的 GROUP BY 不支持列序号",
        fix: "请直接写表达式：GROUP BY {expression}",
    },
};

/// The sides of a set operation have different numbers of columns.
pub const SET_WIDTH: ErrorCode = ErrorCode {
    code: "HW-P309",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the sides of {op} have {left} and {right} columns",
        why: "{op} puts columns together by position",
        fix: "select the same number of columns on both sides; CAST(NULL AS type) stands for one that is missing",
    },
    zh: Text {
        what: "{op} 两侧的列数分别为 {left} 和 {right}",
        why: "{op} 按位置合并列",
        fix: "请让两侧选出相同数量的列；缺少的列可写 CAST(NULL AS 类型)",
    },
};

/// A temporal join without event time or key.
pub const TEMPORAL_JOIN: ErrorCode = ErrorCode {
    code: "HW-P310",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot be joined FOR SYSTEM_TIME AS OF {time}",
        why: "the join finds the version of a row that was valid at {time}, which needs event time on both sides and a key: {lacks}",
        fix: "{lines}",
    },
    zh: Text {
        what: "无法以 FOR SYSTEM_TIME AS OF {time} 关联表 {table}",
        why: "该关联查找在 {time} 时有效的版本，需要两侧都有事件时间，并且右表有主键：{lacks}",
        fix: "{lines}",
    },
};

/// A processing time that the table does not have (warning).
pub const PROCTIME_ASSUMED: ErrorCode = ErrorCode {
    code: "HW-P311",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has no column {name}: it is read as PROCTIME()",
        why: "by its name it is the processing time, and FOR SYSTEM_TIME AS OF asks for the row as of now",
        fix: "to say so, add to CREATE TABLE {table} the line: {name} AS PROCTIME()",
    },
    zh: Text {
        what: "表 {table} 没有列 {name}：按 PROCTIME() 处理",
        why: "从名称看它是处理时间，FOR SYSTEM_TIME AS OF 查询的是当前的行",
        fix: "请在 CREATE TABLE {table} 中加上这一行：{name} AS PROCTIME()",
    },
};

/// A lookup that is asked for the past (warning).
pub const LOOKUP_AS_OF_NOW: ErrorCode = ErrorCode {
    code: "HW-P312",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} is looked up as of now, not as of {time}",
        why: "connector '{connector}' only knows the present content of {table}; a result depends on when a row is processed",
        fix: "write FOR SYSTEM_TIME AS OF PROCTIME() to say so, or read {table} as a changelog with its history: a table of 'connector' = 'kafka' and 'format' = 'debezium-json' with a PRIMARY KEY and a WATERMARK",
    },
    zh: Text {
        what: "表 {table} 按当前内容查找，而不是 {time} 时的内容",
        why: "连接器 '{connector}' 只知道 {table} 的当前内容；结果取决于处理每一行的时刻（now）",
        fix: "请明确写 FOR SYSTEM_TIME AS OF PROCTIME()，或把 {table} 作为带历史的变更流读取：使用 'connector' = 'kafka'、'format' = 'debezium-json'，并带 PRIMARY KEY 和 WATERMARK 的表",
    },
};

/// A new object in a database that does not exist.
pub const MISSING_DATABASE: ErrorCode = ErrorCode {
    code: "HW-P313",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "database {database} of {name} does not exist",
        why: "catalog {catalog} has: {known}; names are case-sensitive",
        fix: "make it first:\nCREATE DATABASE IF NOT EXISTS {catalog}.{database};",
    },
    zh: Text {
        what: "{name} 所在的数据库 {database} 不存在",
        why: "catalog {catalog} 中有：{known}；名称区分大小写",
        fix: "请先创建：\nCREATE DATABASE IF NOT EXISTS {catalog}.{database};",
    },
};

/// An aggregate function in a clause that looks at single rows.
pub const MISPLACED_AGGREGATE: ErrorCode = ErrorCode {
    code: "HW-P314",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} cannot stand in {clause}",
        why: "{clause} looks at rows one by one, before they are grouped",
        fix: "write the condition into HAVING, after GROUP BY; or select {function} in a subquery and use its result outside",
    },
    zh: Text {
        what: "{function} 不能出现在 {clause} 中",
        why: "{clause} 在分组之前逐行计算",
        fix: "请把条件写到 GROUP BY 之后的 HAVING 中；或在子查询中计算 {function}，在外层使用其结果",
    },
};

/// An aggregate function of an aggregate function.
pub const NESTED_AGGREGATE: ErrorCode = ErrorCode {
    code: "HW-P315",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{outer} cannot be applied to {inner} in one query",
        why: "an aggregate function takes rows, and {text} is one value of a whole group",
        fix: "aggregate in two steps: SELECT {call} FROM (SELECT {text} AS x FROM ... GROUP BY ...)",
    },
    zh: Text {
        what: "同一查询中 {outer} 不能作用于 {inner}",
        why: "聚合函数的输入是行，而 {text} 是整个分组的一个值",
        fix: "请分两步聚合：SELECT {call} FROM (SELECT {text} AS x FROM ... GROUP BY ...)",
    },
};

/// WITH gives the same name twice.
pub const DUPLICATE_WITH: ErrorCode = ErrorCode {
    code: "HW-P316",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "WITH defines {name} twice",
        why: "a name of WITH stands for one query",
        fix: "give one of the two queries another name",
    },
    zh: Text {
        what: "WITH 中 {name} 定义了两次",
        why: "WITH 中的名称只代表一个查询",
        fix: "请为其中一个查询换一个名称",
    },
};

/// An alias that lists more or fewer columns than there are.
pub const ALIAS_WIDTH: ErrorCode = ErrorCode {
    code: "HW-P317",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{name} lists {listed} columns, but there are {given}",
        why: "a list of columns after a name renames all of them by position",
        fix: "list {given} names, for: {columns}; or leave the list out",
    },
    zh: Text {
        what: "{name} 列出了 {listed} 列，实际有 {given} 列",
        why: "名称后的列表按位置重命名所有列",
        fix: "请列出 {given} 个名称，对应：{columns}；或省略列表",
    },
};

/// A field of a column that has none.
pub const NOT_A_ROW: ErrorCode = ErrorCode {
    code: "HW-P318",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{name} has no field {field}: it is {type}, not a ROW",
        why: "{name} is a column; the tables of the query are: {known}",
        fix: "write {name} without .{field}; for a column {field} of a table, write the table's name or alias before the dot",
    },
    zh: Text {
        what: "{name} 没有字段 {field}：它的类型是 {type}，不是 ROW",
        why: "{name} 是列；查询中的表有：{known}",
        fix: "请写 {name}，不加 .{field}；若要表中的列 {field}，请在点号前写表名或别名",
    },
};

/// A field that a row does not have.
pub const UNKNOWN_FIELD: ErrorCode = ErrorCode {
    code: "HW-P319",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "row {name} has no field {field}",
        why: "field names are case-sensitive",
        fix: "fields here: {fields}",
    },
    zh: Text {
        what: "行 {name} 没有字段 {field}", why: "字段名区分大小写", fix: "可用的字段：{fields}"
    },
};

/// A field that a row does not have, while it has a similar one.
pub const UNKNOWN_FIELD_NEAR: ErrorCode = ErrorCode {
    code: "HW-P321",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "row {name} has no field {field}",
        why: "field names are case-sensitive",
        fix: "did you mean {nearest}? fields here: {fields}",
    },
    zh: Text {
        what: "行 {name} 没有字段 {field}",
        why: "字段名区分大小写",
        fix: "是否想写 {nearest}？可用的字段：{fields}",
    },
};

/// `c.*` of a column that is no row.
pub const STAR_OF_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P320",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{name}.* needs a table or a ROW: {name} is {type}",
        why: "the tables of the query are: {known}",
        fix: "write one of them before .*, or {name} alone",
    },
    zh: Text {
        what: "{name}.* 需要表或 ROW：{name} 的类型是 {type}",
        why: "查询中的表有：{known}",
        fix: "请在 .* 前写其中之一，或只写 {name}",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &MISSING_TABLE_NEAR,
    &MISSING_TABLE,
    &MISSING_FIRST_TABLE,
    &UNKNOWN_CATALOG,
    &UNKNOWN_DATABASE,
    &UNKNOWN_QUALIFIER,
    &UNKNOWN_QUALIFIER_NEAR,
    &UNKNOWN_COLUMN_EXPRESSION,
    &GROUP_BY_ORDINAL,
    &SET_WIDTH,
    &TEMPORAL_JOIN,
    &PROCTIME_ASSUMED,
    &LOOKUP_AS_OF_NOW,
    &MISSING_DATABASE,
    &MISPLACED_AGGREGATE,
    &NESTED_AGGREGATE,
    &DUPLICATE_WITH,
    &ALIAS_WIDTH,
    &NOT_A_ROW,
    &UNKNOWN_FIELD,
    &UNKNOWN_FIELD_NEAR,
    &STAR_OF_COLUMN,
];
