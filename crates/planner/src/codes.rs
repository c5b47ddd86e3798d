//! Every problem that planning can report. HW-P001 to HW-P199 are binding and statements, HW-P200 on are lowering, changelog
//! modes and EXPLAIN, which keep theirs in `codes_plan.rs`. What the parser finds is in [`crate::syntax_codes`].

use base::{Domain, ErrorCode, Text};

/// A name of too many parts.
pub const BAD_NAME: ErrorCode = ErrorCode {
    code: "HW-P001",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the name {name} has too many parts",
        why: "a name is an object, a database and an object, or a catalog, a database and an object",
        fix: "",
    },
    zh: Text {
        what: "名称 {name} 的层级过多", why: "名称可写为 对象、数据库.对象 或 catalog.数据库.对象", fix: ""
    },
};

/// A table that does not exist, and nothing similar does.
pub const UNKNOWN_TABLE: ErrorCode = ErrorCode {
    code: "HW-P002",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "names are case-sensitive",
        fix: "the database has: {names}",
    },
    zh: Text { what: "表或视图 {name} 不存在", why: "名称区分大小写", fix: "数据库中有：{names}" },
};

/// A table that does not exist while a similar one does.
pub const UNKNOWN_TABLE_NEAR: ErrorCode = ErrorCode {
    code: "HW-P003",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "names are case-sensitive",
        fix: "did you mean {names}?",
    },
    zh: Text { what: "表或视图 {name} 不存在", why: "名称区分大小写", fix: "是否想写 {names}？" },
};

/// A table in a database without tables.
pub const NO_TABLES: ErrorCode = ErrorCode {
    code: "HW-P004",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table or view {name} does not exist",
        why: "{database} has no tables yet",
        fix: "add CREATE TABLE {name} (...) WITH ('connector' = '...') before this statement",
    },
    zh: Text {
        what: "表或视图 {name} 不存在",
        why: "{database} 中还没有表",
        fix: "请在该语句之前加上 CREATE TABLE {name} (...) WITH ('connector' = '...')",
    },
};

/// A column that does not exist.
pub const UNKNOWN_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P005",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} does not exist",
        why: "column names are case-sensitive",
        fix: "did you mean {nearest}? columns here: {columns}",
    },
    zh: Text {
        what: "列 {name} 不存在", why: "列名区分大小写", fix: "是否想写 {nearest}？可用的列：{columns}"
    },
};

/// A column that does not exist, and nothing similar does.
pub const UNKNOWN_COLUMN_LIST: ErrorCode = ErrorCode {
    code: "HW-P006",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} does not exist",
        why: "column names are case-sensitive",
        fix: "columns here: {columns}",
    },
    zh: Text { what: "列 {name} 不存在", why: "列名区分大小写", fix: "可用的列：{columns}" },
};

/// A column that several inputs have.
pub const AMBIGUOUS_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P007",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} is ambiguous",
        why: "more than one table of the query has it",
        fix: "write it with its table: {candidates}",
    },
    zh: Text {
        what: "列 {name} 有歧义", why: "查询中不止一张表有该列", fix: "请加上表名：{candidates}"
    },
};

/// An object of the wrong kind.
pub const NOT_A_TABLE: ErrorCode = ErrorCode {
    code: "HW-P008",
    domain: Domain::User,
    retry: false,
    en: Text { what: "{name} is {kind}, not a {wanted}", why: "", fix: "use the statement for {kind}" },
    zh: Text { what: "{name} 是 {kind}，不是 {wanted}", why: "", fix: "请使用针对 {kind} 的语句" },
};

/// A catalog or database that does not exist.
pub const UNKNOWN_SPACE: ErrorCode = ErrorCode {
    code: "HW-P009",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{kind} {name} does not exist",
        why: "",
        fix: "make it first (CREATE {upper} {name} ...), or use one that exists: SHOW CATALOGS and SHOW DATABASES list them",
    },
    zh: Text {
        what: "{kind} {name} 不存在",
        why: "",
        fix: "请先创建（CREATE {upper} {name} ...），或改用已有的：可用 SHOW CATALOGS 与 SHOW DATABASES 查看",
    },
};

/// An object that exists already.
pub const ALREADY_EXISTS: ErrorCode = ErrorCode {
    code: "HW-P010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{kind} {name} already exists",
        why: "",
        fix: "add IF NOT EXISTS, drop it first, or use another name",
    },
    zh: Text {
        what: "{kind} {name} 已存在", why: "", fix: "请加上 IF NOT EXISTS、先删除，或换一个名称"
    },
};

/// The current database cannot be dropped.
pub const DATABASE_IN_USE: ErrorCode = ErrorCode {
    code: "HW-P011",
    domain: Domain::User,
    retry: false,
    en: Text { what: "database {name} is the current one", why: "", fix: "USE another database first" },
    zh: Text { what: "数据库 {name} 正在使用", why: "", fix: "请先 USE 另一个数据库" },
};

/// A database with objects.
pub const DATABASE_NOT_EMPTY: ErrorCode = ErrorCode {
    code: "HW-P012",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "database {name} is not empty: it has {count} objects",
        why: "",
        fix: "add CASCADE to drop them too",
    },
    zh: Text {
        what: "数据库 {name} 不为空：含 {count} 个对象", why: "", fix: "加上 CASCADE 可一并删除"
    },
};

/// A table that cannot be written.
pub const NOT_A_SINK: ErrorCode = ErrorCode {
    code: "HW-P026",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot be written",
        why: "connector '{connector}' only reads",
        fix: "insert into a table whose connector writes, for example 'print' or 'filesystem'",
    },
    zh: Text {
        what: "表 {table} 不可写",
        why: "连接器 '{connector}' 只能读取",
        fix: "请写入支持写的连接器，例如 'print' 或 'filesystem'",
    },
};

/// A table that cannot be read.
pub const NOT_A_SOURCE: ErrorCode = ErrorCode {
    code: "HW-P027",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot be read",
        why: "connector '{connector}' only writes",
        fix: "read from a table whose connector reads, for example 'filesystem' or 'datagen'",
    },
    zh: Text {
        what: "表 {table} 不可读",
        why: "连接器 '{connector}' 只能写入",
        fix: "请读取支持读的连接器，例如 'filesystem' 或 'datagen'",
    },
};

/// A cast that does not exist.
pub const BAD_CAST: ErrorCode = ErrorCode {
    code: "HW-P028",
    domain: Domain::User,
    retry: false,
    en: Text { what: "cannot cast {from} to {to}", why: "Flink has no cast between these types", fix: "" },
    zh: Text { what: "无法将 {from} 转换为 {to}", why: "Flink 没有这两种类型之间的转换", fix: "" },
};

/// An unknown function.
pub const UNKNOWN_FUNCTION: ErrorCode = ErrorCode {
    code: "HW-P029",
    domain: Domain::User,
    retry: false,
    en: Text { what: "unknown function {name}", why: "", fix: "did you mean {nearest}?" },
    zh: Text { what: "未知的函数 {name}", why: "", fix: "是否想写 {nearest}？" },
};

/// An unknown function that resembles none.
pub const UNKNOWN_FUNCTION_PLAIN: ErrorCode = ErrorCode {
    code: "HW-P030",
    domain: Domain::User,
    retry: false,
    en: Text { what: "unknown function {name}", why: "", fix: "SHOW FUNCTIONS lists what there is" },
    zh: Text { what: "未知的函数 {name}", why: "", fix: "可用 SHOW FUNCTIONS 查看全部函数" },
};

/// A function of another system.
pub const FOREIGN_FUNCTION: ErrorCode = ErrorCode {
    code: "HW-P060",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unknown function {name}",
        why: "other systems have it, Flink SQL does not",
        fix: "write {instead}",
    },
    zh: Text {
        what: "未知的函数 {name}", why: "该函数属于其他系统，Flink SQL 中没有", fix: "请改写为 {instead}"
    },
};

/// A table function that is not there.
pub const TABLE_FUNCTION: ErrorCode = ErrorCode {
    code: "HW-P061",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unknown table function {name}",
        why: "table functions are UNNEST and the windows TUMBLE, HOP, CUMULATE and SESSION",
        fix: "make an array and take it apart: CROSS JOIN UNNEST(SPLIT(s, ',')) AS t (x)",
    },
    zh: Text {
        what: "未知的表函数 {name}",
        why: "表函数有 UNNEST 以及窗口函数 TUMBLE、HOP、CUMULATE、SESSION",
        fix: "请先得到数组再展开：CROSS JOIN UNNEST(SPLIT(s, ',')) AS t (x)",
    },
};

/// An expression that is not in GROUP BY.
pub const NOT_GROUPED: ErrorCode = ErrorCode {
    code: "HW-P031",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "expression {name} is not being grouped",
        why: "with GROUP BY, every selected column is a group key or inside an aggregate function",
        fix: "add {name} to GROUP BY, or aggregate it, for example MAX({name})",
    },
    zh: Text {
        what: "表达式 {name} 未被分组",
        why: "使用 GROUP BY 时，选出的列必须是分组键或位于聚合函数中",
        fix: "请将 {name} 加入 GROUP BY，或使用聚合函数，例如 MAX({name})",
    },
};

/// GROUP BY or HAVING refers to an alias of SELECT.
pub const GROUP_BY_ALIAS: ErrorCode = ErrorCode {
    code: "HW-P032",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{clause} cannot refer to the alias {name}",
        why: "Flink evaluates {clause} before SELECT",
        fix: "write the expression itself: {clause} {expression}",
    },
    zh: Text {
        what: "{clause} 不能引用别名 {name}",
        why: "Flink 先于 SELECT 计算 {clause}",
        fix: "请直接写表达式：{clause} {expression}",
    },
};

/// NULL without a type.
pub const BARE_NULL: ErrorCode = ErrorCode {
    code: "HW-P033",
    domain: Domain::User,
    retry: false,
    en: Text { what: "illegal use of NULL", why: "a bare NULL has no type", fix: "write CAST(NULL AS {type})" },
    zh: Text {
        what: "NULL 的用法不合法", why: "单独的 NULL 没有类型", fix: "请写 CAST(NULL AS {type})"
    },
};

/// An INSERT with another number of columns than the query.
pub const COLUMN_COUNT: ErrorCode = ErrorCode {
    code: "HW-P034",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the query gives {given} columns, but table {table} takes {wanted}",
        why: "query: {query}; table: {columns}",
        fix: "name the columns that the query fills: INSERT INTO {table} ({suggestion}) ...",
    },
    zh: Text {
        what: "查询给出 {given} 列，但表 {table} 需要 {wanted} 列",
        why: "查询：{query}；表：{columns}",
        fix: "请列出查询要填的列：INSERT INTO {table} ({suggestion}) ...",
    },
};

/// Query columns whose types do not fit the sink.
pub const COLUMN_TYPES: ErrorCode = ErrorCode {
    code: "HW-P035",
    domain: Domain::User,
    retry: false,
    en: Text { what: "column types of the query do not fit table {table}", why: "{differences}", fix: "{fix}" },
    zh: Text { what: "查询的列类型与表 {table} 不符", why: "{differences}", fix: "{fix}" },
};

/// An INSERT column list that names a wrong column.
pub const INSERT_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P036",
    domain: Domain::User,
    retry: false,
    en: Text { what: "table {table} has no column {name} to insert into", why: "{why}", fix: "columns: {columns}" },
    zh: Text { what: "表 {table} 没有可写入的列 {name}", why: "{why}", fix: "可写的列：{columns}" },
};

/// A NOT NULL column that an INSERT leaves out.
pub const MISSING_NOT_NULL: ErrorCode = ErrorCode {
    code: "HW-P037",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} of table {table} is NOT NULL, but the INSERT leaves it out",
        why: "a left-out column is filled with NULL",
        fix: "add {name} to the column list and to the query",
    },
    zh: Text {
        what: "表 {table} 的列 {name} 为 NOT NULL，但 INSERT 没有写入它",
        why: "未列出的列会填入 NULL",
        fix: "请在列清单和查询中加入 {name}",
    },
};

/// An unknown session option.
pub const UNKNOWN_SESSION_OPTION: ErrorCode = ErrorCode {
    code: "HW-P038",
    domain: Domain::User,
    retry: false,
    en: Text { what: "unknown option '{key}'", why: "", fix: "did you mean '{nearest}'?" },
    zh: Text { what: "未知的选项 '{key}'", why: "", fix: "是否想写 '{nearest}'？" },
};

/// An unknown session option that resembles none.
pub const UNKNOWN_SESSION_OPTION_PLAIN: ErrorCode = ErrorCode {
    code: "HW-P039",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unknown option '{key}'",
        why: "nothing in this version reads it",
        fix: "remove the line; SET; lists the options that are set",
    },
    zh: Text {
        what: "未知的选项 '{key}'", why: "当前版本没有使用它", fix: "请删除该行；SET; 可列出已设置的选项"
    },
};

/// A session option without an effect (warning).
pub const INERT_OPTION: ErrorCode = ErrorCode {
    code: "HW-P040",
    domain: Domain::User,
    retry: false,
    en: Text { what: "option '{key}' has no effect here", why: "{reason}", fix: "" },
    zh: Text { what: "选项 '{key}' 在此不起作用", why: "{reason}", fix: "" },
};

/// A window over a column that is no time attribute.
pub const NOT_TIME_ATTRIBUTE: ErrorCode = ErrorCode {
    code: "HW-P041",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} needs a time attribute, but {column} is {type}",
        why: "windows are cut by event time, which a WATERMARK makes known",
        fix: "add to CREATE TABLE {table}: WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
    zh: Text {
        what: "{function} 需要时间属性列，但 {column} 的类型是 {type}",
        why: "窗口按事件时间划分，而事件时间由 WATERMARK 声明",
        fix: "请在 CREATE TABLE {table} 中加上：WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
};

/// A wrong argument of a window function.
pub const WINDOW_ARGUMENT: ErrorCode = ErrorCode {
    code: "HW-P042",
    domain: Domain::User,
    retry: false,
    en: Text { what: "wrong arguments of {function}: {problem}", why: "", fix: "for example {example}" },
    zh: Text { what: "{function} 的参数有误：{problem}", why: "", fix: "例如 {example}" },
};

/// A window size that is no multiple of its step.
pub const WINDOW_MULTIPLE: ErrorCode = ErrorCode {
    code: "HW-P043",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the size of {function} must be a multiple of its {step}",
        why: "size {size_ms} ms, {step} {step_ms} ms",
        fix: "",
    },
    zh: Text {
        what: "{function} 的窗口大小必须是 {step} 的整数倍",
        why: "窗口大小 {size_ms} ms，{step} {step_ms} ms",
        fix: "",
    },
};

/// TUMBLE_START and the like without their window.
pub const WINDOW_AUXILIARY: ErrorCode = ErrorCode {
    code: "HW-P044",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} needs the same window in GROUP BY",
        why: "it reads the window that {window}(...) in GROUP BY makes",
        fix: "add {window}({arguments}) to GROUP BY with equal arguments",
    },
    zh: Text {
        what: "{function} 需要 GROUP BY 中有相同的窗口",
        why: "它读取 GROUP BY 中 {window}(...) 的窗口",
        fix: "请在 GROUP BY 中加上参数相同的 {window}({arguments})",
    },
};

/// GROUPING and its likes over anything but what is grouped by.
pub const GROUPING_ARGUMENT: ErrorCode = ErrorCode {
    code: "HW-P075",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} cannot be computed here: {problem}",
        why: "it says for columns of GROUP BY whether the grouping set of a row leaves them out",
        fix: "give it columns of GROUP BY, written as they are there",
    },
    zh: Text {
        what: "此处无法计算 {function}：{problem}",
        why: "它说明一行所属的分组集是否不含 GROUP BY 中的某些列",
        fix: "请传入 GROUP BY 中的列，写法与 GROUP BY 中一致",
    },
};

/// UNNEST of what is no collection.
pub const UNNEST_TYPE: ErrorCode = ErrorCode {
    code: "HW-P076",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "UNNEST cannot take a value of type {type} apart",
        why: "only ARRAY, MAP and MULTISET have elements",
        fix: "give it a column of such a type; text is split by SPLIT(text, ',') first",
    },
    zh: Text {
        what: "UNNEST 无法展开类型为 {type} 的值",
        why: "只有 ARRAY、MAP 和 MULTISET 含有元素",
        fix: "请传入这些类型的列；文本可先用 SPLIT(文本, ',') 拆分",
    },
};

/// Values without a common type.
pub const NO_COMMON_TYPE: ErrorCode = ErrorCode {
    code: "HW-P045",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{where} mixes types that have no common type: {types}",
        why: "Flink does not convert between them by itself",
        fix: "add casts, for example CAST(... AS {example})",
    },
    zh: Text {
        what: "{where} 的各个值没有共同类型：{types}",
        why: "Flink 不会在它们之间自动转换",
        fix: "请加上转换，例如 CAST(... AS {example})",
    },
};

/// A condition that is not boolean.
pub const NOT_BOOLEAN: ErrorCode = ErrorCode {
    code: "HW-P046",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{clause} needs a BOOLEAN condition, but it is {type}",
        why: "",
        fix: "compare it with something",
    },
    zh: Text {
        what: "{clause} 的条件必须是 BOOLEAN，但它是 {type}", why: "", fix: "请写成比较表达式"
    },
};

/// A literal that is not valid.
pub const BAD_LITERAL: ErrorCode = ErrorCode {
    code: "HW-P047",
    domain: Domain::User,
    retry: false,
    en: Text { what: "invalid literal {literal}", why: "{why}", fix: "for example {example}" },
    zh: Text { what: "无效的字面量 {literal}", why: "{why}", fix: "例如 {example}" },
};

/// Anything else that binding finds wrong.
pub const BIND: ErrorCode = ErrorCode {
    code: "HW-P048",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the query cannot be planned: {reason}", why: "", fix: "" },
    zh: Text { what: "查询无法规划：{reason}", why: "", fix: "" },
};

/// A view whose column list does not fit its query.
pub const VIEW_COLUMNS: ErrorCode = ErrorCode {
    code: "HW-P049",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "view {name} lists {listed} columns, but its query gives {given}",
        why: "",
        fix: "list one name per column of the query",
    },
    zh: Text {
        what: "视图 {name} 列出 {listed} 列，但查询给出 {given} 列",
        why: "",
        fix: "请为查询的每一列给出一个名称",
    },
};

/// A computed column that refers to another one.
pub const COMPUTED_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P050",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "computed column {name} refers to computed column {other}",
        why: "a computed column can use physical and metadata columns only",
        fix: "write the expression of {other} in its place",
    },
    zh: Text {
        what: "计算列 {name} 引用了计算列 {other}",
        why: "计算列只能使用物理列和元数据列",
        fix: "请用 {other} 的表达式替换它",
    },
};

/// A statement set without INSERT.
pub const EMPTY_SET: ErrorCode = ErrorCode {
    code: "HW-P051",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the statement set is empty", why: "", fix: "put one INSERT INTO or more between BEGIN and END" },
    zh: Text { what: "语句集为空", why: "", fix: "请在 BEGIN 与 END 之间写入一条或多条 INSERT INTO" },
};

/// ON CONFLICT is accepted without an effect (warning).
pub const ON_CONFLICT: ErrorCode = ErrorCode {
    code: "HW-P052",
    domain: Domain::User,
    retry: false,
    en: Text { what: "ON CONFLICT DO {action} has no effect here", why: "the last change of a key wins", fix: "" },
    zh: Text {
        what: "ON CONFLICT DO {action} 在此不起作用", why: "同一 key 以最后一次变更为准", fix: ""
    },
};

/// A hint that is not applied yet (warning).
pub const OPTION_HINT: ErrorCode = ErrorCode {
    code: "HW-P053",
    domain: Domain::User,
    retry: false,
    en: Text { what: "hint {hint} is not applied", why: "this version does not read it", fix: "" },
    zh: Text { what: "提示 {hint} 未生效", why: "当前版本不读取它", fix: "" },
};

/// A table without an end in batch mode.
pub const UNBOUNDED_IN_BATCH: ErrorCode = ErrorCode {
    code: "HW-P054",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot be read in batch mode: it never ends",
        why: "a batch query gives its result when all of its input has been read, and connector '{connector}' goes on reading",
        fix: "SET 'execution.runtime-mode' = 'streaming'; or give the table an end, for example \
              'scan.bounded.mode' = 'latest-offset' (kafka) or 'number-of-rows' = '1000' (datagen)",
    },
    zh: Text {
        what: "批模式下不能读取表 {table}：它没有终点",
        why: "批查询要读完全部输入才给出结果，而 connector '{connector}' 会一直读下去",
        fix: "请 SET 'execution.runtime-mode' = 'streaming'；或为该表设置终点，例如 \
              'scan.bounded.mode' = 'latest-offset'（kafka）或 'number-of-rows' = '1000'（datagen）",
    },
};

/// RAND_INTEGER with a bound that leaves no number.
pub const RANDOM_BOUND: ErrorCode = ErrorCode {
    code: "HW-P057",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "RAND_INTEGER cannot give a number below {bound}",
        why: "the numbers start at 0, so the bound must be positive",
        fix: "guard it: RAND_INTEGER(GREATEST(n, 1))",
    },
    zh: Text {
        what: "RAND_INTEGER 无法给出小于 {bound} 的数",
        why: "随机数从 0 开始，上界必须为正",
        fix: "请加以保护：RAND_INTEGER(GREATEST(n, 1))",
    },
};

/// A view that uses itself.
pub const VIEW_CYCLE: ErrorCode = ErrorCode {
    code: "HW-P055",
    domain: Domain::User,
    retry: false,
    en: Text { what: "view {name} uses itself", why: "", fix: "change its query" },
    zh: Text { what: "视图 {name} 引用了自身", why: "", fix: "请修改它的查询" },
};

/// The value of a message as if it were a column.
pub const MESSAGE_VALUE: ErrorCode = ErrorCode {
    code: "HW-P059",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has no column {name}: the value of a Kafka message is not a column",
        why: "its columns are {columns}; a message without a value (a tombstone) already arrives as a DELETE of its key, \
              so there is no row to filter out",
        fix: "leave the condition out; to see the messages of the topic as they are:\n\
              CREATE TABLE {table}_raw (`value` STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}',\n\
              'properties.bootstrap.servers' = '{servers}', 'format' = 'raw', 'scan.startup.mode' = 'earliest-offset');",
    },
    zh: Text {
        what: "表 {table} 没有列 {name}：Kafka 消息的 value 不是列",
        why: "它的列是 {columns}；没有 value 的消息（tombstone）到达时已经是其主键的 DELETE，因此没有需要过滤的行",
        fix: "请去掉该条件；若要查看主题中的原始消息：\n\
              CREATE TABLE {table}_raw (`value` STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}',\n\
              'properties.bootstrap.servers' = '{servers}', 'format' = 'raw', 'scan.startup.mode' = 'earliest-offset');",
    },
};

/// Every code of this file, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &MESSAGE_VALUE,
    &BAD_NAME,
    &UNKNOWN_TABLE,
    &UNKNOWN_TABLE_NEAR,
    &NO_TABLES,
    &UNKNOWN_COLUMN,
    &UNKNOWN_COLUMN_LIST,
    &AMBIGUOUS_COLUMN,
    &NOT_A_TABLE,
    &UNKNOWN_SPACE,
    &ALREADY_EXISTS,
    &DATABASE_IN_USE,
    &DATABASE_NOT_EMPTY,
    &NOT_A_SINK,
    &NOT_A_SOURCE,
    &BAD_CAST,
    &UNKNOWN_FUNCTION,
    &UNKNOWN_FUNCTION_PLAIN,
    &FOREIGN_FUNCTION,
    &TABLE_FUNCTION,
    &NOT_GROUPED,
    &GROUP_BY_ALIAS,
    &BARE_NULL,
    &COLUMN_COUNT,
    &COLUMN_TYPES,
    &INSERT_COLUMN,
    &MISSING_NOT_NULL,
    &UNKNOWN_SESSION_OPTION,
    &UNKNOWN_SESSION_OPTION_PLAIN,
    &INERT_OPTION,
    &NOT_TIME_ATTRIBUTE,
    &WINDOW_ARGUMENT,
    &WINDOW_MULTIPLE,
    &WINDOW_AUXILIARY,
    &GROUPING_ARGUMENT,
    &UNNEST_TYPE,
    &NO_COMMON_TYPE,
    &NOT_BOOLEAN,
    &BAD_LITERAL,
    &BIND,
    &VIEW_COLUMNS,
    &COMPUTED_COLUMN,
    &EMPTY_SET,
    &ON_CONFLICT,
    &OPTION_HINT,
    &UNBOUNDED_IN_BATCH,
    &VIEW_CYCLE,
    &RANDOM_BOUND,
];
