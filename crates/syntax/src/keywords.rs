//! The words that Flink SQL does not accept as a name without backticks.

/// Reserved words of Flink's parser, sorted, in upper case.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "ABS", "ALL", "ALLOCATE", "ALLOW", "ALTER", "AND", "ANY", "ARE", "ARRAY", "AS", "ASENSITIVE", "ASYMMETRIC", "AT",
    "ATOMIC", "AUTHORIZATION", "AVG", "BEGIN", "BETWEEN", "BIGINT", "BINARY", "BIT", "BLOB", "BOOLEAN", "BOTH", "BY",
    "BYTES", "CALL", "CALLED", "CARDINALITY", "CASCADED", "CASE", "CAST", "CATALOGS", "CEIL", "CEILING", "CHAR",
    "CHARACTER", "CHARACTER_LENGTH", "CHAR_LENGTH", "CHECK", "CLASSIFIER", "CLOB", "CLOSE", "COALESCE", "COLLATE",
    "COLLECT", "COLUMN", "COMMENT", "COMMIT", "CONDITION", "CONNECT", "CONSTRAINT", "CONTAINS", "CONVERT", "CORR",
    "CORRESPONDING", "COUNT", "COVAR_POP", "COVAR_SAMP", "CREATE", "CROSS", "CUBE", "CUME_DIST", "CURRENT",
    "CURRENT_CATALOG", "CURRENT_DATE", "CURRENT_PATH", "CURRENT_ROLE", "CURRENT_ROW", "CURRENT_SCHEMA", "CURRENT_TIME",
    "CURRENT_TIMESTAMP", "CURRENT_USER", "CURSOR", "CYCLE", "DATABASES", "DATE", "DAY", "DEALLOCATE", "DEC", "DECIMAL",
    "DECLARE", "DEFAULT", "DEFINE", "DELETE", "DENSE_RANK", "DEREF", "DESCRIBE", "DETERMINISTIC", "DISALLOW",
    "DISCONNECT", "DISTINCT", "DOUBLE", "DROP", "DYNAMIC", "EACH", "ELEMENT", "ELSE", "EMPTY", "END", "EQUALS",
    "ESCAPE", "EVERY", "EXCEPT", "EXEC", "EXECUTE", "EXISTS", "EXP", "EXPLAIN", "EXTEND", "EXTENDED", "EXTERNAL",
    "EXTRACT", "FALSE", "FETCH", "FILTER", "FIRST_VALUE", "FLOAT", "FLOOR", "FOR", "FOREIGN", "FREE", "FROM", "FULL",
    "FUNCTION", "FUNCTIONS", "FUSION", "GET", "GLOBAL", "GRANT", "GROUP", "GROUPING", "GROUPS", "HAVING", "HOLD",
    "HOUR", "IDENTITY", "IMPORT", "IN", "INDICATOR", "INITIAL", "INNER", "INOUT", "INSENSITIVE", "INSERT", "INT",
    "INTEGER", "INTERSECT", "INTERSECTION", "INTERVAL", "INTO", "IS", "JOIN", "JSON_ARRAY", "JSON_ARRAYAGG",
    "JSON_EXISTS", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_QUERY", "JSON_VALUE", "LAG", "LANGUAGE", "LARGE",
    "LAST_VALUE", "LATERAL", "LEAD", "LEADING", "LEFT", "LIKE", "LIKE_REGEX", "LIMIT", "LN", "LOCAL", "LOCALTIME",
    "LOCALTIMESTAMP", "LOWER", "MATCH", "MATCHES", "MATCH_NUMBER", "MATCH_RECOGNIZE", "MAX", "MEASURES", "MEMBER",
    "MERGE", "METHOD", "MIN", "MINUS", "MINUTE", "MOD", "MODIFIES", "MODULE", "MODULES", "MONTH", "MULTISET",
    "NATIONAL", "NATURAL", "NCHAR", "NCLOB", "NEW", "NEXT", "NO", "NONE", "NORMALIZE", "NOT", "NTH_VALUE", "NTILE",
    "NULL", "NULLIF", "NUMERIC", "OCCURRENCES_REGEX", "OCTET_LENGTH", "OF", "OFFSET", "OLD", "OMIT", "ON", "ONE",
    "ONLY", "OPEN", "OR", "ORDER", "OUT", "OUTER", "OVER", "OVERLAPS", "OVERLAY", "PARAMETER", "PARTITION", "PATTERN",
    "PER", "PERCENT", "PERCENTILE_CONT", "PERCENTILE_DISC", "PERCENT_RANK", "PERIOD", "PERMUTE", "PORTION", "POSITION",
    "POSITION_REGEX", "POWER", "PRECEDES", "PRECISION", "PREPARE", "PREV", "PRIMARY", "PROCEDURE", "RANGE", "RANK",
    "RAW", "READS", "REAL", "RECURSIVE", "REF", "REFERENCES", "REFERENCING", "RELEASE", "RENAME", "RESET", "RESULT",
    "RETURN", "RETURNS", "REVOKE", "RIGHT", "ROLLBACK", "ROLLUP", "ROW", "ROWS", "ROW_NUMBER", "RUNNING", "SAVEPOINT",
    "SCALA", "SCOPE", "SCROLL", "SEARCH", "SECOND", "SEEK", "SELECT", "SENSITIVE", "SESSION_USER", "SET", "SHOW",
    "SIMILAR", "SKIP", "SMALLINT", "SOME", "SPECIFIC", "SPECIFICTYPE", "SQL", "SQLEXCEPTION", "SQLSTATE", "SQLWARNING",
    "SQRT", "START", "STATIC", "STDDEV_POP", "STDDEV_SAMP", "STREAM", "STRING", "SUBMULTISET", "SUBSET", "SUBSTRING",
    "SUBSTRING_REGEX", "SUCCEEDS", "SUM", "SYMMETRIC", "SYSTEM", "SYSTEM_TIME", "SYSTEM_USER", "TABLE", "TABLES",
    "TABLESAMPLE", "THEN", "TIME", "TIMESTAMP", "TIMEZONE_HOUR", "TIMEZONE_MINUTE", "TINYINT", "TO", "TRAILING",
    "TRANSLATE", "TRANSLATE_REGEX", "TRANSLATION", "TREAT", "TRIGGER", "TRIM", "TRIM_ARRAY", "TRUE", "TRUNCATE",
    "UESCAPE", "UNION", "UNIQUE", "UNKNOWN", "UNNEST", "UPDATE", "UPPER", "UPSERT", "USE", "USER", "USING", "VALUE",
    "VALUES", "VALUE_OF", "VARBINARY", "VARCHAR", "VARYING", "VAR_POP", "VAR_SAMP", "VERSIONING", "VIEWS", "WATERMARK",
    "WATERMARKS", "WHEN", "WHENEVER", "WHERE", "WIDTH_BUCKET", "WINDOW", "WITH", "WITHIN", "WITHOUT", "YEAR",
];

/// Whether Flink SQL accepts the word as a name only in backticks.
///
/// Definitions (`CREATE TABLE t (value INT)`, `SELECT a AS value`) are refused accordingly. Where a query refers to a
/// column by a reserved word, it is read as one, so that the planner can say what it knows about the column.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}

/// Words that begin or join clauses. Standing where an expression should, they mean that the expression is missing.
const CLAUSE_WORDS: &[&str] = &[
    "AND",
    "AS",
    "BY",
    "CROSS",
    "ELSE",
    "END",
    "EXCEPT",
    "FETCH",
    "FOR",
    "FROM",
    "FULL",
    "HAVING",
    "IN",
    "INNER",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MINUS",
    "NATURAL",
    "OFFSET",
    "ON",
    "OR",
    "OVER",
    "RIGHT",
    "SELECT",
    "SET",
    "THEN",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Whether a reserved word at a wrong place was probably meant as a name.
pub(crate) fn looks_like_name(word: &str) -> bool {
    is_reserved(word) && CLAUSE_WORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_err()
}

/// The keyword that a word misses by one letter: one too many, one too few, a wrong one, or two neighbours swapped.
pub(crate) fn misspelled(word: &str, keywords: &[&'static str]) -> Option<&'static str> {
    let word = word.to_ascii_uppercase();
    keywords.iter().find(|keyword| is_one_edit(word.as_bytes(), keyword.as_bytes())).copied()
}

fn is_one_edit(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let start = short.iter().zip(long).take_while(|(left, right)| left == right).count();
    let (short, long) = (&short[start..], &long[start..]);
    match (short, long) {
        (short, [_, rest @ ..]) if short == rest => true,
        ([_, left @ ..], [_, right @ ..]) if left == right => true,
        ([a, b, left @ ..], [c, d, right @ ..]) => a == d && b == c && left == right,
        _ => false,
    }
}

#[cfg(test)]
#[path = "keywords_tests.rs"]
mod tests;
