//! What can be wrong with statements other than queries, and why some are refused. HW-P100 to HW-P149.

use base::{Domain, ErrorCode, Text};

/// A mistake that another text of the script mends.
const fn user(code: &'static str, en: Text, zh: Text) -> ErrorCode {
    ErrorCode { code, domain: Domain::User, retry: false, en, zh }
}

/// A catalog or database that does not exist while a similar one does.
pub const UNKNOWN_SPACE_NEAR: ErrorCode = user(
    "HW-P100",
    Text { what: "{kind} {name} does not exist", why: "", fix: "did you mean {nearest}?" },
    Text { what: "{kind} {name} 不存在", why: "", fix: "是否想写 {nearest}？" },
);

/// The current catalog cannot be dropped.
pub const CATALOG_IN_USE: ErrorCode = user(
    "HW-P101",
    Text { what: "catalog {name} is the current one", why: "", fix: "USE CATALOG another one first" },
    Text { what: "catalog {name} 正在使用", why: "", fix: "请先 USE CATALOG 另一个" },
);

/// A catalog of a type that this version does not have.
pub const CATALOG_TYPE: ErrorCode = user(
    "HW-P102",
    Text {
        what: "a catalog of type '{type}' is not available",
        why: "this version has catalogs of these types: {known}",
        fix: "{fix}",
    },
    Text {
        what: "不支持类型为 '{type}' 的 catalog", why: "当前版本支持的类型：{known}", fix: "{fix}"
    },
);

/// A hint that does not exist.
pub const UNKNOWN_HINT: ErrorCode = user(
    "HW-P103",
    Text {
        what: "unknown hint {hint}",
        why: "a hint that is not understood would silently change nothing",
        fix: "known hints: {names}",
    },
    Text {
        what: "未知的提示 {hint}", why: "无法识别的提示不会生效，因此报错而不是忽略", fix: "已知的提示：{names}"
    },
);

/// OPTIONS stands after SELECT.
pub const OPTIONS_AFTER_SELECT: ErrorCode = user(
    "HW-P104",
    Text {
        what: "the hint OPTIONS does not belong after SELECT",
        why: "it changes the options of one table",
        fix: "write it after the table's name: FROM {table} /*+ OPTIONS('key' = 'value') */",
    },
    Text {
        what: "提示 OPTIONS 不应写在 SELECT 之后",
        why: "它修改的是某一张表的选项",
        fix: "请写在表名之后：FROM {table} /*+ OPTIONS('key' = 'value') */",
    },
);

/// A hint that names no table.
pub const HINT_WITHOUT_TABLE: ErrorCode = user(
    "HW-P105",
    Text { what: "hint {hint} names no table", why: "", fix: "for example {example}" },
    Text { what: "提示 {hint} 没有指明表", why: "", fix: "例如 {example}" },
);

/// A hint names a table that the query does not have.
pub const HINT_TABLE: ErrorCode = user(
    "HW-P106",
    Text {
        what: "hint {hint} names {name}, which is no table of this SELECT",
        why: "a hint counts for the FROM of its own SELECT; a table with an alias is named by it",
        fix: "tables here: {tables}",
    },
    Text {
        what: "提示 {hint} 中的 {name} 不是该 SELECT 的表",
        why: "提示只作用于所在 SELECT 的 FROM；有别名的表用别名",
        fix: "此处的表：{tables}",
    },
);

/// A STATE_TTL hint without a time.
pub const HINT_DURATION: ErrorCode = user(
    "HW-P107",
    Text {
        what: "STATE_TTL of {table} does not take '{value}'",
        why: "it takes a time span",
        fix: "for example '12 h' or '1 d'",
    },
    Text {
        what: "{table} 的 STATE_TTL 不接受 '{value}'", why: "需要时间长度", fix: "例如 '12 h' 或 '1 d'"
    },
);

/// OPTIONS after a view.
pub const OPTIONS_OF_VIEW: ErrorCode = user(
    "HW-P108",
    Text {
        what: "{name} is a view and has no options",
        why: "",
        fix: "put the hint OPTIONS after the name of a table inside the view",
    },
    Text {
        what: "{name} 是视图，没有选项", why: "", fix: "请把提示 OPTIONS 写在视图内部的表名之后"
    },
);

/// A hint other than OPTIONS after the target of an INSERT.
pub const INSERT_HINT: ErrorCode = user(
    "HW-P109",
    Text {
        what: "hint {hint} does not belong after the target of an INSERT",
        why: "only OPTIONS does",
        fix: "put it after the SELECT that it is for",
    },
    Text {
        what: "提示 {hint} 不应写在 INSERT 的目标表之后",
        why: "此处只接受 OPTIONS",
        fix: "请写在相应的 SELECT 之后",
    },
);

/// OPTIONS changes the connector.
pub const HINTED_CONNECTOR: ErrorCode = user(
    "HW-P110",
    Text {
        what: "the hint OPTIONS cannot change the connector of table {table}",
        why: "its columns and options were checked for that connector",
        fix: "declare another table: CREATE TABLE ... WITH ('connector' = '{connector}', ...) LIKE {table} (EXCLUDING OPTIONS)",
    },
    Text {
        what: "提示 OPTIONS 不能改变表 {table} 的连接器",
        why: "表的列和选项是按原连接器检查的",
        fix: "请声明另一张表：CREATE TABLE ... WITH ('connector' = '{connector}', ...) LIKE {table} (EXCLUDING OPTIONS)",
    },
);

/// Functions that grow too large when they are put in place.
pub const FUNCTION_SIZE: ErrorCode = user(
    "HW-P111",
    Text {
        what: "function {name} becomes too large here",
        why: "functions from SQL expressions are put in the place of their calls, and this call grows beyond the limit",
        fix: "compute parts of it in a view",
    },
    Text {
        what: "函数 {name} 在此处展开后过大",
        why: "由 SQL 表达式定义的函数在调用处展开，该调用超过了上限",
        fix: "请在视图中先计算其中一部分",
    },
);

/// OVER, FILTER or DISTINCT with a function from an SQL expression.
pub const FUNCTION_CLAUSE: ErrorCode = user(
    "HW-P112",
    Text {
        what: "function {name} takes no DISTINCT, FILTER, OVER or WITHIN GROUP",
        why: "it is a scalar function",
        fix: "remove the clause",
    },
    Text {
        what: "函数 {name} 不接受 DISTINCT、FILTER、OVER 或 WITHIN GROUP",
        why: "它是标量函数",
        fix: "请去掉该子句",
    },
);

/// A call with other arguments than the function has parameters.
pub const FUNCTION_ARGUMENTS: ErrorCode = user(
    "HW-P113",
    Text {
        what: "function {name} does not take these {given} arguments",
        why: "it is {signature}",
        fix: "give one argument per parameter",
    },
    Text {
        what: "函数 {name} 不接受这 {given} 个参数",
        why: "它的签名是 {signature}",
        fix: "请为每个形参给出一个参数",
    },
);

/// An argument whose type does not fit its parameter.
pub const FUNCTION_ARGUMENT: ErrorCode = user(
    "HW-P114",
    Text {
        what: "parameter {parameter} of function {function} is {to}, but the argument is {from}",
        why: "Flink does not convert between them by itself",
        fix: "write CAST(... AS {to})",
    },
    Text {
        what: "函数 {function} 的形参 {parameter} 类型为 {to}，但参数类型为 {from}",
        why: "Flink 不会在它们之间自动转换",
        fix: "请写 CAST(... AS {to})",
    },
);

/// A function that calls itself.
pub const FUNCTION_RECURSION: ErrorCode = user(
    "HW-P115",
    Text {
        what: "function {name} calls itself",
        why: "a function from an SQL expression is put in the place of its calls, which would never end",
        fix: "write the expression without the call",
    },
    Text {
        what: "函数 {name} 调用了自身",
        why: "由 SQL 表达式定义的函数在调用处展开，递归将永不结束",
        fix: "请写成不含该调用的表达式",
    },
);

/// A function whose expression is not scalar.
pub const FUNCTION_BODY: ErrorCode = user(
    "HW-P116",
    Text {
        what: "the expression of function {name} holds {what}",
        why: "a function gives one value per call, from its parameters alone",
        fix: "use a view",
    },
    Text {
        what: "函数 {name} 的表达式中含有 {what}", why: "函数每次调用只根据参数给出一个值", fix: "请使用视图"
    },
);

/// A function whose expression does not give what RETURNS says.
pub const FUNCTION_RETURN: ErrorCode = user(
    "HW-P117",
    Text {
        what: "function {name} returns {to}, but its expression is {from}",
        why: "there is no cast between these types",
        fix: "write RETURNS {from}, or change the expression",
    },
    Text {
        what: "函数 {name} 声明返回 {to}，但表达式的类型是 {from}",
        why: "这两种类型之间没有转换",
        fix: "请写 RETURNS {from}，或修改表达式",
    },
);

/// A function in another language than SQL.
pub const CLASS_FUNCTION: ErrorCode = user(
    "HW-P118",
    Text {
        what: "function {name} is written in {language}, which does not run here",
        why: "there is no virtual machine for '{class}' in this program",
        fix: "write it as an expression: CREATE FUNCTION {name}(a INT) RETURNS INT LANGUAGE SQL RETURN a + 1",
    },
    Text {
        what: "函数 {name} 由 {language} 编写，无法在此运行",
        why: "本程序中没有运行 '{class}' 的虚拟机",
        fix: "请写成表达式：CREATE FUNCTION {name}(a INT) RETURNS INT LANGUAGE SQL RETURN a + 1",
    },
);

/// A function to drop that does not exist.
pub const NO_SUCH_FUNCTION: ErrorCode = user(
    "HW-P119",
    Text {
        what: "function {name} does not exist",
        why: "functions that can be dropped are made by CREATE FUNCTION",
        fix: "SHOW USER FUNCTIONS lists them",
    },
    Text {
        what: "函数 {name} 不存在",
        why: "只有 CREATE FUNCTION 创建的函数才能删除",
        fix: "可用 SHOW USER FUNCTIONS 查看",
    },
);

/// A view whose tables have changed since.
pub const VIEW_BROKEN: ErrorCode = user(
    "HW-P120",
    Text {
        what: "view {name} cannot be read any more",
        why: "what its query reads has been dropped or changed",
        fix: "create it again, or change the view: ALTER VIEW {name} AS ...",
    },
    Text {
        what: "视图 {name} 已无法读取",
        why: "其查询读取的对象已被删除或修改",
        fix: "请重新创建，或修改视图：ALTER VIEW {name} AS ...",
    },
);

/// A change of a table that is not possible.
pub const ALTER_COLUMN: ErrorCode = user(
    "HW-P121",
    Text { what: "table {table} cannot be changed: {problem}", why: "{why}", fix: "{fix}" },
    Text { what: "无法修改表 {table}：{problem}", why: "{why}", fix: "{fix}" },
);

/// LIKE takes over what the new table has already.
pub const LIKE_CONFLICT: ErrorCode = user(
    "HW-P122",
    Text {
        what: "both {table} and the table after LIKE have {what}",
        why: "LIKE takes it over and the new table writes it again",
        fix: "remove one of them, or write LIKE {other} ({clause})",
    },
    Text {
        what: "{table} 与 LIKE 后的表都有 {what}",
        why: "LIKE 会带入它，而新表又写了一次",
        fix: "请去掉其中一个，或写 LIKE {other} ({clause})",
    },
);

/// A PARTITION clause that does not fit the table.
pub const STATIC_PARTITION: ErrorCode = user(
    "HW-P123",
    Text {
        what: "the PARTITION clause does not fit table {table}: {problem}",
        why: "a value in PARTITION fills a column of PARTITIONED BY that the query then leaves out",
        fix: "{fix}",
    },
    Text {
        what: "PARTITION 子句与表 {table} 不符：{problem}",
        why: "PARTITION 中的值填入 PARTITIONED BY 的列，查询中不再给出该列",
        fix: "{fix}",
    },
);

/// PARTITIONED BY with a connector that has no partitions.
pub const NO_PARTITIONS: ErrorCode = user(
    "HW-P124",
    Text {
        what: "table {table} cannot be PARTITIONED BY: connector '{connector}' has no partitions",
        why: "rows of this connector are not stored in folders",
        fix: "remove PARTITIONED BY",
    },
    Text {
        what: "表 {table} 不能使用 PARTITIONED BY：连接器 '{connector}' 没有分区",
        why: "该连接器的数据不按目录存放",
        fix: "请去掉 PARTITIONED BY",
    },
);

/// A transform in PARTITIONED BY that does not exist or is not complete.
pub const PARTITION_TRANSFORM: ErrorCode = user(
    "HW-P125",
    Text {
        what: "PARTITIONED BY does not take {text}",
        why: "{why}",
        fix: "transforms: years(ts), months(ts), days(ts), hours(ts), bucket(16, id), truncate(10, name)",
    },
    Text {
        what: "PARTITIONED BY 不接受 {text}",
        why: "{why}",
        fix: "可用的变换：years(ts)、months(ts)、days(ts)、hours(ts)、bucket(16, id)、truncate(10, name)",
    },
);

/// UPDATE, DELETE and MERGE.
pub const ROW_CHANGE: ErrorCode = user(
    "HW-P126",
    Text {
        what: "{statement} does not run on tables of this version",
        why: "the connectors here write changes as a stream; none can look for stored rows and change them",
        fix: "insert the new row into a table with a PRIMARY KEY (upsert-kafka, jdbc): it replaces the row of its key",
    },
    Text {
        what: "当前版本的表不支持 {statement}",
        why: "这里的连接器以流的方式写入变更，无法查找并修改已存储的行",
        fix: "请将新行插入带 PRIMARY KEY 的表（upsert-kafka、jdbc），它会替换同主键的行",
    },
);

/// CALL.
pub const PROCEDURE: ErrorCode = user(
    "HW-P127",
    Text {
        what: "there is no procedure {name}",
        why: "procedures belong to catalogs of table formats, and a catalog in memory has none",
        fix: "SHOW PROCEDURES lists what there is",
    },
    Text {
        what: "没有存储过程 {name}",
        why: "存储过程属于表格式的 catalog，内存 catalog 没有存储过程",
        fix: "可用 SHOW PROCEDURES 查看",
    },
);

/// LOAD MODULE and its likes.
pub const MODULE: ErrorCode = user(
    "HW-P128",
    Text {
        what: "module {name} is not available",
        why: "all functions of this version are in module core, which is always loaded",
        fix: "remove the statement; SHOW FUNCTIONS lists the functions",
    },
    Text {
        what: "模块 {name} 不可用",
        why: "当前版本的全部函数都在始终加载的 core 模块中",
        fix: "请删除该语句；可用 SHOW FUNCTIONS 查看函数",
    },
);

/// ADD JAR.
pub const JAR: ErrorCode = user(
    "HW-P129",
    Text {
        what: "{statement} has nothing to load",
        why: "connectors, formats and functions are part of this program; Java code does not run in it",
        fix: "remove the statement; connectors here: {known}",
    },
    Text {
        what: "{statement} 没有可加载的内容",
        why: "连接器、格式和函数都在本程序内，不运行 Java 代码",
        fix: "请删除该语句；可用的连接器：{known}",
    },
);

/// COMPILE PLAN and EXECUTE PLAN.
pub const SAVED_PLAN: ErrorCode = user(
    "HW-P130",
    Text {
        what: "{statement} is not available",
        why: "plans are not saved: a job keeps its state as long as its SQL means the same, and is planned again at every start",
        fix: "run the INSERT itself; EXPLAIN shows its plan",
    },
    Text {
        what: "不支持 {statement}",
        why: "不保存执行计划：只要 SQL 含义不变，作业状态就会保留，每次启动时重新规划",
        fix: "请直接运行 INSERT；EXPLAIN 可显示计划",
    },
);

/// ANALYZE TABLE.
pub const STATISTICS: ErrorCode = user(
    "HW-P131",
    Text {
        what: "ANALYZE TABLE is not available",
        why: "no plan of this version depends on statistics",
        fix: "remove the statement",
    },
    Text {
        what: "不支持 ANALYZE TABLE", why: "当前版本的计划不依赖统计信息", fix: "请删除该语句"
    },
);

/// TRUNCATE TABLE.
pub const TRUNCATE: ErrorCode = user(
    "HW-P132",
    Text {
        what: "TRUNCATE TABLE {name} is not available",
        why: "no connector of this version can empty a table",
        fix: "empty it in its own system: delete the topic's records, or the folder's files",
    },
    Text {
        what: "不支持 TRUNCATE TABLE {name}",
        why: "当前版本没有连接器能清空表",
        fix: "请在其所在系统中清空：删除主题中的记录或目录中的文件",
    },
);

/// Materialized tables.
pub const MATERIALIZED_TABLE: ErrorCode = user(
    "HW-P133",
    Text {
        what: "{statement} is not available",
        why: "there is no service that refreshes tables in the background",
        fix: "write CREATE TABLE ... AS SELECT ...: its job keeps the table up to date while it runs",
    },
    Text {
        what: "不支持 {statement}",
        why: "没有在后台刷新表的服务",
        fix: "请写 CREATE TABLE ... AS SELECT ...：其作业在运行期间保持表最新",
    },
);

/// Models.
pub const MODEL: ErrorCode = user(
    "HW-P134",
    Text {
        what: "{statement} is not available",
        why: "this version calls no machine learning models",
        fix: "remove the statement",
    },
    Text { what: "不支持 {statement}", why: "当前版本不调用机器学习模型", fix: "请删除该语句" },
);

/// Connections.
pub const CONNECTION: ErrorCode = user(
    "HW-P135",
    Text {
        what: "{statement} is not available",
        why: "this version keeps no connections apart from tables",
        fix: "write address and credentials as options of the table",
    },
    Text {
        what: "不支持 {statement}", why: "当前版本没有独立于表的连接对象", fix: "请把地址和凭据写成表的选项"
    },
);

/// Commands of an SQL client.
pub const CLIENT_COMMAND: ErrorCode = user(
    "HW-P136",
    Text {
        what: "{statement} is a command of an interactive client",
        why: "a script runs from its first line to its last",
        fix: "{fix}",
    },
    Text {
        what: "{statement} 是交互式客户端的命令", why: "脚本从第一行运行到最后一行", fix: "{fix}"
    },
);

/// SHOW JOBS and its likes.
pub const JOB_COMMAND: ErrorCode = user(
    "HW-P137",
    Text {
        what: "{statement} is not available in a script",
        why: "the jobs of a script start when all of it has been planned",
        fix: "use the command line in another terminal: highwater status, highwater stop",
    },
    Text {
        what: "脚本中不支持 {statement}",
        why: "脚本的作业在全部规划完成后才启动",
        fix: "请在另一个终端使用命令行：highwater status、highwater stop",
    },
);

/// Statements of other systems.
pub const FOREIGN_STATEMENT: ErrorCode = user(
    "HW-P138",
    Text {
        what: "{statement} is not a statement of Flink SQL",
        why: "it belongs to databases that store rows and users themselves",
        fix: "remove it, or run it in that database",
    },
    Text {
        what: "{statement} 不是 Flink SQL 的语句",
        why: "它属于自己存储数据和用户的数据库",
        fix: "请删除它，或在相应的数据库中运行",
    },
);

/// ALTER FUNCTION.
pub const ALTER_FUNCTION: ErrorCode = user(
    "HW-P139",
    Text {
        what: "ALTER FUNCTION is not available",
        why: "a function is its expression: there is nothing else to change",
        fix: "write CREATE OR REPLACE FUNCTION ... LANGUAGE SQL RETURN ...",
    },
    Text {
        what: "不支持 ALTER FUNCTION",
        why: "函数就是它的表达式，没有其他可修改的内容",
        fix: "请写 CREATE OR REPLACE FUNCTION ... LANGUAGE SQL RETURN ...",
    },
);

/// INSERT OVERWRITE.
pub const OVERWRITE: ErrorCode = user(
    "HW-P140",
    Text {
        what: "INSERT OVERWRITE {table} is not available",
        why: "overwriting replaces what is there when a batch job ends; a streaming job has no such moment",
        fix: "write INSERT INTO {table}, and empty the target before the job",
    },
    Text {
        what: "不支持 INSERT OVERWRITE {table}",
        why: "覆盖写入在批作业结束时替换已有数据，流作业没有这样的时刻",
        fix: "请写 INSERT INTO {table}，并在作业之前清空目标",
    },
);

/// A CREATE TABLE AS whose columns do not fit its query.
pub const QUERY_TABLE: ErrorCode = user(
    "HW-P141",
    Text {
        what: "the columns of table {table} do not fit the query after AS: {problem}",
        why: "columns without a type are a list of all columns of the query in another order; others are added to those of the query or give one of them another type",
        fix: "columns of the query: {columns}",
    },
    Text {
        what: "表 {table} 的列与 AS 后的查询不符：{problem}",
        why: "没有类型的列是查询全部列的另一种顺序；其他列会加入查询的列，或改变同名列的类型",
        fix: "查询的列：{columns}",
    },
);

/// REPLACE TABLE without a table.
pub const NOTHING_TO_REPLACE: ErrorCode = user(
    "HW-P142",
    Text {
        what: "table {name} does not exist, so there is nothing to replace",
        why: "",
        fix: "write CREATE OR REPLACE TABLE {name}",
    },
    Text {
        what: "表 {name} 不存在，没有可替换的对象", why: "", fix: "请写 CREATE OR REPLACE TABLE {name}"
    },
);

/// A permanent object that a temporary one hides.
pub const HIDDEN_OBJECT: ErrorCode = user(
    "HW-P143",
    Text {
        what: "a temporary {kind} hides {kind} {name}",
        why: "both have this name, and the temporary one counts",
        fix: "write DROP TEMPORARY {upper} {name} first",
    },
    Text {
        what: "临时对象遮住了同名的 {kind} {name}",
        why: "两者同名，以临时对象为准",
        fix: "请先写 DROP TEMPORARY {upper} {name}",
    },
);

/// Clauses of Spark's CREATE TABLE.
pub const SPARK_TABLE: ErrorCode = user(
    "HW-P144",
    Text {
        what: "{clause} of table {table} is not available here",
        why: "it is Spark's way to name a table format, and this version has none of them",
        fix: "write WITH ('connector' = '...'); connectors here: {known}",
    },
    Text {
        what: "表 {table} 的 {clause} 在此不可用",
        why: "这是 Spark 指定表格式的写法，当前版本没有这些表格式",
        fix: "请写 WITH ('connector' = '...')；可用的连接器：{known}",
    },
);

/// An option of a catalog that does not exist.
pub const UNKNOWN_CATALOG_OPTION: ErrorCode = user(
    "HW-P145",
    Text { what: "a catalog of type '{type}' has no option '{key}'", why: "", fix: "it has: 'default-database'" },
    Text { what: "类型为 '{type}' 的 catalog 没有选项 '{key}'", why: "", fix: "它有：'default-database'" },
);

/// Every code of this file, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &UNKNOWN_SPACE_NEAR,
    &CATALOG_IN_USE,
    &CATALOG_TYPE,
    &UNKNOWN_HINT,
    &OPTIONS_AFTER_SELECT,
    &HINT_WITHOUT_TABLE,
    &HINT_TABLE,
    &HINT_DURATION,
    &OPTIONS_OF_VIEW,
    &INSERT_HINT,
    &HINTED_CONNECTOR,
    &FUNCTION_SIZE,
    &FUNCTION_CLAUSE,
    &FUNCTION_ARGUMENTS,
    &FUNCTION_ARGUMENT,
    &FUNCTION_RECURSION,
    &FUNCTION_BODY,
    &FUNCTION_RETURN,
    &CLASS_FUNCTION,
    &NO_SUCH_FUNCTION,
    &VIEW_BROKEN,
    &ALTER_COLUMN,
    &LIKE_CONFLICT,
    &STATIC_PARTITION,
    &NO_PARTITIONS,
    &PARTITION_TRANSFORM,
    &ROW_CHANGE,
    &PROCEDURE,
    &MODULE,
    &JAR,
    &SAVED_PLAN,
    &STATISTICS,
    &TRUNCATE,
    &MATERIALIZED_TABLE,
    &MODEL,
    &CONNECTION,
    &CLIENT_COMMAND,
    &JOB_COMMAND,
    &FOREIGN_STATEMENT,
    &ALTER_FUNCTION,
    &OVERWRITE,
    &QUERY_TABLE,
    &NOTHING_TO_REPLACE,
    &HIDDEN_OBJECT,
    &SPARK_TABLE,
    &UNKNOWN_CATALOG_OPTION,
];
