//! Functions that are unknown: those of MySQL, Hive, Spark and ClickHouse with what is written instead, others with the
//! nearest names.

use crate::codes;
use base::Error;
use base::nearest::nearest;

/// Functions that Flink has and this version does not.
const KNOWN_TO_FLINK: &[&str] = &[
    "CURRENT_CATALOG",
    "FLATTEN",
    "FROM_CHANGELOG",
    "GET",
    "MATCH_PROCTIME",
    "MATCH_ROWTIME",
    "SOURCE_WATERMARK",
    "TO_CHANGELOG",
];

/// Names that other systems know, and what does the same here: over texts `s` and `j` (JSON), a number `n`, a date `d`, a time
/// `ts`, an array `a` and a map `m`.
const FOREIGN: &[(&str, &str)] = &[
    ("ADDDATE", "d + INTERVAL '1' DAY"),
    ("ADD_MONTHS", "d + INTERVAL '1' MONTH"),
    ("ANY", "FIRST_VALUE(n)"),
    ("ANY_VALUE", "FIRST_VALUE(n)"),
    ("APPROX_COUNT_DISTINCT", "COUNT(DISTINCT n)"),
    ("APPROX_DISTINCT", "COUNT(DISTINCT n)"),
    ("ARGMAX", "ROW_NUMBER() OVER (PARTITION BY s ORDER BY n DESC)"),
    ("ARGMIN", "ROW_NUMBER() OVER (PARTITION BY s ORDER BY n)"),
    ("ARRAY_LENGTH", "CARDINALITY(a)"),
    ("ARRAY_SIZE", "CARDINALITY(a)"),
    ("ARRAY_TO_STRING", "ARRAY_JOIN(a, ',')"),
    ("BOOL_AND", "MIN(CASE WHEN n > 0 THEN 1 ELSE 0 END) = 1"),
    ("BOOL_OR", "MAX(CASE WHEN n > 0 THEN 1 ELSE 0 END) = 1"),
    ("CHARINDEX", "LOCATE('x', s)"),
    ("COLLECT_LIST", "ARRAY_AGG(n)"),
    ("COLLECT_SET", "ARRAY_AGG(DISTINCT n)"),
    ("COUNTIF", "COUNT(*) FILTER (WHERE n > 0)"),
    ("COUNT_IF", "COUNT(*) FILTER (WHERE n > 0)"),
    ("CURDATE", "CURRENT_DATE"),
    ("CURTIME", "CURRENT_TIME"),
    ("DATEDIFF", "TIMESTAMPDIFF(DAY, d, CURRENT_DATE)"),
    ("DATE_ADD", "d + INTERVAL '1' DAY"),
    ("DATE_DIFF", "TIMESTAMPDIFF(DAY, d, CURRENT_DATE)"),
    ("DATE_PART", "EXTRACT(HOUR FROM ts)"),
    ("DATE_SUB", "d - INTERVAL '1' DAY"),
    ("DATE_TRUNC", "FLOOR(ts TO HOUR)"),
    ("DAYOFWEEK_ISO", "EXTRACT(ISODOW FROM d)"),
    ("EMPTY", "s = ''"),
    ("FIND_IN_SET", "ARRAY_POSITION(SPLIT(s, ','), 'x')"),
    ("FORMATDATETIME", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("FORMAT_DATETIME", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("FROM_UTC_TIMESTAMP", "CONVERT_TZ(s, 'UTC', 'Asia/Shanghai')"),
    ("GENERATEUUIDV4", "UUID()"),
    ("GENERATE_UUID", "UUID()"),
    ("GETDATE", "CURRENT_TIMESTAMP"),
    ("GET_JSON_OBJECT", "JSON_VALUE(j, '$.name')"),
    ("GROUPARRAY", "ARRAY_AGG(n)"),
    ("GROUPUNIQARRAY", "ARRAY_AGG(DISTINCT n)"),
    ("GROUP_CONCAT", "LISTAGG(s, ',')"),
    ("ISNULL", "n IS NULL"),
    ("JSONEXTRACTINT", "JSON_VALUE(j, '$.id' RETURNING INT)"),
    ("JSONEXTRACTSTRING", "JSON_VALUE(j, '$.name')"),
    ("JSON_ARRAY_LENGTH", "CARDINALITY(JSON_QUERY(j, '$' RETURNING ARRAY<STRING>))"),
    ("JSON_EXTRACT", "JSON_VALUE(j, '$.name')"),
    ("JSON_EXTRACT_SCALAR", "JSON_VALUE(j, '$.name')"),
    ("JSON_PARSE", "PARSE_JSON(j)"),
    ("JSON_TUPLE", "JSON_VALUE(j, '$.name')"),
    ("LAST_DAY", "FLOOR(d TO MONTH) + INTERVAL '1' MONTH - INTERVAL '1' DAY"),
    ("LCASE", "LOWER(s)"),
    ("LEN", "CHAR_LENGTH(s)"),
    ("LENGTH", "CHAR_LENGTH(s)"),
    ("MAX_BY", "ROW_NUMBER() OVER (PARTITION BY s ORDER BY n DESC)"),
    ("MEDIAN", "PERCENTILE(n, 0.5)"),
    ("MID", "SUBSTRING(s, 1, 3)"),
    ("MIN_BY", "ROW_NUMBER() OVER (PARTITION BY s ORDER BY n)"),
    ("MULTIIF", "CASE WHEN n > 0 THEN 'a' WHEN n < 0 THEN 'b' ELSE 'c' END"),
    ("NVL", "COALESCE(n, 0)"),
    ("NVL2", "IF(n IS NOT NULL, 1, 0)"),
    ("PERCENTILE_APPROX", "PERCENTILE(n, 0.5)"),
    ("PERCENTILE_CONT", "PERCENTILE(n, 0.5)"),
    ("QUANTILE", "PERCENTILE(n, 0.5)"),
    ("REGEXP_LIKE", "REGEXP(s, '[0-9]+')"),
    ("RLIKE", "REGEXP(s, '[0-9]+')"),
    ("SIZE", "CARDINALITY(a)"),
    ("SPLIT_PART", "SPLIT_INDEX(s, ',', 0)"),
    ("STRFTIME", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("STRING_AGG", "LISTAGG(s, ',')"),
    ("STRING_SPLIT", "SPLIT(s, ',')"),
    ("STRING_TO_ARRAY", "SPLIT(s, ',')"),
    ("STRPOS", "POSITION('x' IN s)"),
    ("STR_TO_DATE", "TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss')"),
    ("SUBDATE", "d - INTERVAL '1' DAY"),
    ("SUBSTRING_INDEX", "SPLIT_INDEX(s, ',', 0)"),
    ("SUMIF", "SUM(n) FILTER (WHERE n > 0)"),
    ("SYSDATE", "CURRENT_TIMESTAMP"),
    ("TODATE", "CAST(ts AS DATE)"),
    ("TODATETIME", "TO_TIMESTAMP(s)"),
    ("TOINT32", "CAST(s AS INT)"),
    ("TOINT64", "CAST(s AS BIGINT)"),
    ("TOSTARTOFDAY", "FLOOR(ts TO DAY)"),
    ("TOSTARTOFHOUR", "FLOOR(ts TO HOUR)"),
    ("TOSTARTOFMINUTE", "FLOOR(ts TO MINUTE)"),
    ("TOSTRING", "CAST(n AS STRING)"),
    ("TOYYYYMM", "DATE_FORMAT(ts, 'yyyyMM')"),
    ("TOYYYYMMDD", "DATE_FORMAT(ts, 'yyyyMMdd')"),
    ("TO_CHAR", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')"),
    ("TO_JSON", "JSON_OBJECT('n' VALUE n)"),
    ("TO_NUMBER", "CAST(s AS DECIMAL(10, 2))"),
    ("TO_UNIXTIME", "UNIX_TIMESTAMP(CAST(ts AS STRING))"),
    ("TO_UNIX_TIMESTAMP", "UNIX_TIMESTAMP(CAST(ts AS STRING))"),
    ("TO_UTC_TIMESTAMP", "CONVERT_TZ(s, 'Asia/Shanghai', 'UTC')"),
    ("UCASE", "UPPER(s)"),
    ("UNIQ", "COUNT(DISTINCT n)"),
    ("UNIQEXACT", "COUNT(DISTINCT n)"),
    ("WEEKDAY", "EXTRACT(ISODOW FROM d)"),
    ("WEEKOFYEAR", "WEEK(d)"),
];

/// A function that nobody knows, or that is not built yet. The name is in upper case.
pub fn unknown_function(name: &str) -> Error {
    if name == "SOURCE_WATERMARK" {
        let instead = "the watermark is declared instead: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND";
        return Error::unsupported(format!("SOURCE_WATERMARK(), watermarks that a connector makes ({instead})"));
    }
    if KNOWN_TO_FLINK.contains(&name) {
        return Error::unsupported(format!("the function {name}"));
    }
    if let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
        return Error::new(&codes::FOREIGN_FUNCTION, &[("name", &name), ("instead", instead)]);
    }
    let names = functions::scalar_names().into_iter().chain(functions::aggregate_names());
    let near = nearest(name, names);
    if near.is_empty() {
        return Error::new(&codes::UNKNOWN_FUNCTION_PLAIN, &[("name", &name)]);
    }
    Error::new(&codes::UNKNOWN_FUNCTION, &[("name", &name), ("nearest", &near.join(", "))])
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
