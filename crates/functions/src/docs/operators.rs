//! Descriptions of the functions of comparisons, logic, conditions and conversions.

use super::{Entry, entry};
use crate::doc::Category;

pub(super) const COMPARISON: &[Entry] = &[
    entry(Category::Comparison, "=", "Whether both values are equal.", "两个值是否相等。", &[("1 = 1.0", "TRUE")]),
    entry(Category::Comparison, "<>", "Whether the values differ.", "两个值是否不等。", &[("'a' <> 'b'", "TRUE")]),
    entry(Category::Comparison, "<", "Whether the first value is smaller.", "第一个值是否更小。", &[("1 < 2", "TRUE")]),
    entry(
        Category::Comparison,
        "<=",
        "Whether the first value is smaller or equal.",
        "第一个值是否小于或等于第二个值。",
        &[("2 <= 2", "TRUE")],
    ),
    entry(
        Category::Comparison,
        ">",
        "Whether the first value is greater.",
        "第一个值是否更大。",
        &[("DATE '2024-01-02' > DATE '2024-01-01'", "TRUE")],
    ),
    entry(
        Category::Comparison,
        ">=",
        "Whether the first value is greater or equal.",
        "第一个值是否大于或等于第二个值。",
        &[("1 >= 2", "FALSE")],
    ),
    entry(
        Category::Comparison,
        "IS DISTINCT FROM",
        "Whether the values differ; two NULLs are equal.",
        "两个值是否不同；两个 NULL 视为相同。",
        &[("1 IS DISTINCT FROM CAST(NULL AS INT)", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "IS NOT DISTINCT FROM",
        "Whether the values are equal; two NULLs are equal.",
        "两个值是否相同；两个 NULL 视为相同。",
        &[("CAST(NULL AS INT) IS NOT DISTINCT FROM CAST(NULL AS INT)", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "IS NULL",
        "Whether the value is NULL.",
        "值是否为 NULL。",
        &[("CAST(NULL AS INT) IS NULL", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "IS NOT NULL",
        "Whether the value is not NULL.",
        "值是否不为 NULL。",
        &[("1 IS NOT NULL", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "BETWEEN",
        "Whether a value lies between two others, ends included; SYMMETRIC orders them first.",
        "值是否在两个值之间（含两端）；SYMMETRIC 会先排序两端。",
        &[("2 BETWEEN 1 AND 3", "TRUE"), ("1 BETWEEN SYMMETRIC 2 AND 0", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "IN",
        "Whether the value is in the list; NULL if it is not found and the list has a NULL.",
        "值是否在列表中；找不到且列表含 NULL 时为 NULL。",
        &[("2 IN (1, 2, 3)", "TRUE"), ("3 NOT IN (1, 2)", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "LIKE",
        "Whether the text fits a pattern: % stands for any text, _ for one character.",
        "文本是否匹配模式：% 代表任意文本，_ 代表一个字符。",
        &[("'abc' LIKE 'a%'", "TRUE"), ("'a%c' LIKE 'a!%c' ESCAPE '!'", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "NOT LIKE",
        "Whether the text does not fit a pattern.",
        "文本是否不匹配模式。",
        &[("'abc' NOT LIKE 'a%'", "FALSE")],
    ),
    entry(
        Category::Comparison,
        "SIMILAR TO",
        "Whether the text fits a regular expression of SQL.",
        "文本是否匹配 SQL 正则表达式。",
        &[("'abc' SIMILAR TO 'a(b|d)c'", "TRUE")],
    ),
    entry(
        Category::Comparison,
        "NOT SIMILAR TO",
        "Whether the text does not fit a regular expression of SQL.",
        "文本是否不匹配 SQL 正则表达式。",
        &[("'abc' NOT SIMILAR TO 'a%'", "FALSE")],
    ),
    entry(
        Category::Comparison,
        "OVERLAPS",
        "Whether two periods have a point in common; each is given by its ends or by a start and a length.",
        "两个时间段是否有交点；每段由两端或起点加时长给出。",
        &[("(TIME '09:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR)", "FALSE")],
    ),
];

pub(super) const LOGIC: &[Entry] = &[
    entry(
        Category::Logic,
        "AND",
        "Whether both conditions hold, in three-valued logic.",
        "两个条件是否都成立（三值逻辑）。",
        &[("TRUE AND FALSE", "FALSE"), ("FALSE AND CAST(NULL AS BOOLEAN)", "FALSE")],
    ),
    entry(
        Category::Logic,
        "OR",
        "Whether one of the conditions holds, in three-valued logic.",
        "是否至少一个条件成立（三值逻辑）。",
        &[("TRUE OR CAST(NULL AS BOOLEAN)", "TRUE")],
    ),
    entry(
        Category::Logic,
        "NOT",
        "The opposite of a condition; NULL stays NULL.",
        "条件取反；NULL 仍为 NULL。",
        &[("NOT FALSE", "TRUE")],
    ),
    entry(
        Category::Logic,
        "IS TRUE",
        "Whether the condition is true; never NULL.",
        "条件是否为真；从不为 NULL。",
        &[("CAST(NULL AS BOOLEAN) IS TRUE", "FALSE")],
    ),
    entry(
        Category::Logic,
        "IS NOT TRUE",
        "Whether the condition is false or NULL.",
        "条件是否为假或 NULL。",
        &[("CAST(NULL AS BOOLEAN) IS NOT TRUE", "TRUE")],
    ),
    entry(
        Category::Logic,
        "IS FALSE",
        "Whether the condition is false; never NULL.",
        "条件是否为假；从不为 NULL。",
        &[("FALSE IS FALSE", "TRUE")],
    ),
    entry(
        Category::Logic,
        "IS NOT FALSE",
        "Whether the condition is true or NULL.",
        "条件是否为真或 NULL。",
        &[("TRUE IS NOT FALSE", "TRUE")],
    ),
    entry(
        Category::Logic,
        "IS UNKNOWN",
        "Whether the condition is NULL.",
        "条件是否为 NULL。",
        &[("CAST(NULL AS BOOLEAN) IS UNKNOWN", "TRUE")],
    ),
    entry(
        Category::Logic,
        "IS NOT UNKNOWN",
        "Whether the condition is not NULL.",
        "条件是否不为 NULL。",
        &[("TRUE IS NOT UNKNOWN", "TRUE")],
    ),
];

pub(super) const CONDITIONAL: &[Entry] = &[
    entry(
        Category::Conditional,
        "CASE",
        "The result of the first condition that holds, else the one after ELSE, else NULL.",
        "第一个成立的条件对应的结果，否则为 ELSE 的结果，再否则为 NULL。",
        &[
            ("CASE WHEN 1 > 2 THEN 'a' WHEN 2 > 1 THEN 'b' ELSE 'c' END", "b"),
            ("CASE 1 WHEN 1 THEN 'x' WHEN 2 THEN 'y' END", "x"),
        ],
    ),
    entry(
        Category::Conditional,
        "COALESCE",
        "The first value that is not NULL.",
        "第一个不为 NULL 的值。",
        &[("COALESCE(CAST(NULL AS INT), 2)", "2")],
    ),
    entry(
        Category::Conditional,
        "IFNULL",
        "The first value, or the second one if the first is NULL.",
        "第一个值；若为 NULL 则取第二个值。",
        &[("IFNULL(CAST(NULL AS INT), 1)", "1")],
    ),
    entry(
        Category::Conditional,
        "IF",
        "The second value if the condition holds, else the third.",
        "条件成立取第二个值，否则取第三个值。",
        &[("IF(2 > 1, 'yes', 'no')", "yes")],
    ),
    entry(
        Category::Conditional,
        "NULLIF",
        "NULL if both values are equal, else the first one.",
        "两个值相等时为 NULL，否则为第一个值。",
        &[("NULLIF(1, 1)", "NULL"), ("NULLIF(5, 0)", "5")],
    ),
    entry(
        Category::Conditional,
        "GREATEST",
        "The greatest value; NULL if one is NULL.",
        "最大的值；有 NULL 则为 NULL。",
        &[("GREATEST(1, 2, 3)", "3")],
    ),
    entry(
        Category::Conditional,
        "LEAST",
        "The smallest value; NULL if one is NULL.",
        "最小的值；有 NULL 则为 NULL。",
        &[("LEAST('b', 'a')", "a")],
    ),
];

pub(super) const CONVERSION: &[Entry] = &[
    entry(
        Category::Conversion,
        "CAST",
        "The value as another type; a value that does not fit fails the job.",
        "转换为另一种类型；无法转换的值会使作业失败。",
        &[("CAST('12.7' AS INT)", "12"), ("CAST(TRUE AS STRING)", "TRUE")],
    ),
    entry(
        Category::Conversion,
        "TRY_CAST",
        "The value as another type; NULL where CAST fails.",
        "转换为另一种类型；CAST 会失败之处返回 NULL。",
        &[("TRY_CAST('abc' AS INT)", "NULL")],
    ),
    entry(
        Category::Conversion,
        "TYPEOF",
        "The type of a value as text; with TRUE, in its full form.",
        "值的类型文本；第二个参数为 TRUE 时为完整形式。",
        &[("TYPEOF(1)", "INT NOT NULL")],
    ),
];
