//! What the page of functions says about aggregate functions.

use crate::doc::{Category, FunctionDoc};

const fn doc(en: &'static str, zh: &'static str, examples: &'static [(&'static str, &'static str)]) -> FunctionDoc {
    FunctionDoc { category: Category::Aggregate, en, zh, examples }
}

/// Names in upper case with their description.
const DOCS: &[(&[&str], FunctionDoc)] = &[
    (
        &["COUNT"],
        doc(
            "the number of rows, or of rows where the argument is not NULL; DISTINCT counts each value once",
            "行数，或参数不为 NULL 的行数；DISTINCT 对每个值只计一次",
            &[("COUNT(*)", "3"), ("COUNT(x)", "3"), ("COUNT(DISTINCT x / 2)", "2"), ("COUNT(NULLIF(x, 2))", "2")],
        ),
    ),
    (
        &["SUM"],
        doc(
            "the sum; integers keep their type and wrap, DECIMAL(p, s) gives DECIMAL(38, s); NULL without values",
            "求和；整数保持类型并回绕，DECIMAL(p, s) 得到 DECIMAL(38, s)；没有值时为 NULL",
            &[("SUM(x)", "6"), ("SUM(x) FILTER (WHERE x > 1)", "5"), ("SUM(CAST(x AS DECIMAL(5, 2)))", "6.00")],
        ),
    ),
    (&["SUM0", "$SUM0"], doc("the sum, 0 without values", "求和，没有值时为 0", &[])),
    (
        &["AVG"],
        doc(
            "the average; of integers it is an integer, cut towards zero; of DECIMAL it has at least 6 digits after the point",
            "平均值；整数的平均值仍为整数（向零截断），DECIMAL 至少保留 6 位小数",
            &[("AVG(x)", "2"), ("AVG(CAST(x AS DOUBLE) / 2)", "1.0"), ("AVG(CAST(x AS DECIMAL(5, 2)))", "2.000000")],
        ),
    ),
    (&["MIN"], doc("the least value", "最小值", &[("MIN(x)", "1"), ("MIN(CAST(x AS STRING))", "1")])),
    (&["MAX"], doc("the greatest value", "最大值", &[("MAX(x)", "3"), ("MAX(NULLIF(x, 3))", "2")])),
    (
        &["FIRST_VALUE"],
        doc(
            "the first value that is not NULL, in arrival order",
            "按到达顺序的第一个非 NULL 值",
            &[("FIRST_VALUE(x)", "1"), ("FIRST_VALUE(NULLIF(x, 1))", "2")],
        ),
    ),
    (
        &["LAST_VALUE"],
        doc(
            "the last value that is not NULL, in arrival order",
            "按到达顺序的最后一个非 NULL 值",
            &[("LAST_VALUE(x)", "3"), ("LAST_VALUE(NULLIF(x, 3))", "2")],
        ),
    ),
    (
        &["SINGLE_VALUE"],
        doc(
            "the only value; a second row is an error; scalar subqueries are computed with it",
            "唯一的值；出现第二行即报错；标量子查询用它计算",
            &[],
        ),
    ),
    (
        &["LISTAGG"],
        doc(
            "the strings, joined by a separator, a comma if none is given; NULLs are left out",
            "用分隔符（默认逗号）连接字符串，忽略 NULL",
            &[("LISTAGG(CAST(x AS STRING))", "1,2,3"), ("LISTAGG(CAST(x AS STRING), '-')", "1-2-3")],
        ),
    ),
    (
        &["ARRAY_AGG"],
        doc(
            "the values as an ARRAY in arrival order, NULLs too; NULL without rows",
            "按到达顺序组成 ARRAY，保留 NULL；没有行时为 NULL",
            &[("ARRAY_AGG(x)", "[1, 2, 3]"), ("ARRAY_AGG(NULLIF(x, 2))", "[1, NULL, 3]")],
        ),
    ),
    (
        &["COLLECT"],
        doc(
            "the values as a MULTISET: each value with its number; NULLs are left out",
            "组成 MULTISET：每个值及其出现次数，忽略 NULL",
            &[("COLLECT(x)", "{1=1, 2=1, 3=1}"), ("COLLECT(x / 2)", "{0=1, 1=2}")],
        ),
    ),
    (
        &["STDDEV_POP"],
        doc(
            "the standard deviation of the population, in the type of the argument",
            "总体标准差，结果类型同参数",
            &[("STDDEV_POP(CAST(x AS DOUBLE))", "0.816496580927726")],
        ),
    ),
    (
        &["STDDEV_SAMP", "STDDEV"],
        doc(
            "the standard deviation of a sample; NULL for one row",
            "样本标准差；只有一行时为 NULL",
            &[("STDDEV_SAMP(CAST(x AS DOUBLE))", "1.0"), ("STDDEV(CAST(x AS DOUBLE))", "1.0")],
        ),
    ),
    (
        &["VAR_POP"],
        doc(
            "the variance of the population, in the type of the argument",
            "总体方差，结果类型同参数",
            &[("VAR_POP(CAST(x AS DOUBLE))", "0.6666666666666666")],
        ),
    ),
    (
        &["VAR_SAMP", "VARIANCE"],
        doc(
            "the variance of a sample; NULL for one row",
            "样本方差；只有一行时为 NULL",
            &[("VAR_SAMP(CAST(x AS DOUBLE))", "1.0"), ("VARIANCE(x)", "1")],
        ),
    ),
    (
        &["PERCENTILE"],
        doc(
            "an exact percentile, or several for an ARRAY, interpolated between neighbours; a third argument says how often each value counts",
            "精确百分位数（参数为 ARRAY 时返回多个），在相邻值之间插值；第三个参数是每个值的出现次数",
            &[
                ("PERCENTILE(x, 0.5)", "2.0"),
                ("PERCENTILE(x, ARRAY[0.25, 1.0])", "[1.5, 3.0]"),
                ("PERCENTILE(x, 0.5, x)", "2.5"),
            ],
        ),
    ),
    (
        &["JSON_ARRAYAGG"],
        doc(
            "the values as a JSON array; NULLs are left out unless NULL ON NULL is said",
            "组成 JSON 数组；默认忽略 NULL，可用 NULL ON NULL 保留",
            &[("JSON_ARRAYAGG(x)", "[1,2,3]"), ("JSON_ARRAYAGG(NULLIF(x, 2) NULL ON NULL)", "[1,null,3]")],
        ),
    ),
    (
        &["JSON_OBJECTAGG"],
        doc(
            "keys and values as a JSON object, ordered by key; a key that comes twice is an error; ABSENT ON NULL leaves NULLs out",
            "由键和值组成 JSON 对象，按键排序；键重复即报错；ABSENT ON NULL 忽略 NULL",
            &[("JSON_OBJECTAGG(KEY CAST(x AS STRING) VALUE x * 2)", "{\"1\":2,\"2\":4,\"3\":6}")],
        ),
    ),
    (
        &["BITMAP_BUILD_AGG"],
        doc(
            "the INT values as a BITMAP; NULL without values",
            "由 INT 值组成 BITMAP；没有值时为 NULL",
            &[("BITMAP_BUILD_AGG(x)", "{1,2,3}")],
        ),
    ),
    (
        &["BITMAP_BUILD_CARDINALITY_AGG"],
        doc(
            "the number of different INT values, counted with a bitmap",
            "用位图统计不同 INT 值的个数",
            &[("BITMAP_BUILD_CARDINALITY_AGG(x / 2)", "2")],
        ),
    ),
    (
        &["BITMAP_AND_AGG"],
        doc(
            "the members that all bitmaps have",
            "所有位图的交集",
            &[("BITMAP_AND_AGG(BITMAP_BUILD(ARRAY[x, 9]))", "{9}")],
        ),
    ),
    (
        &["BITMAP_AND_CARDINALITY_AGG"],
        doc(
            "the number of members that all bitmaps have",
            "所有位图交集的元素个数",
            &[("BITMAP_AND_CARDINALITY_AGG(BITMAP_BUILD(ARRAY[x, 9]))", "1")],
        ),
    ),
    (
        &["BITMAP_OR_AGG"],
        doc(
            "the members that any bitmap has",
            "所有位图的并集",
            &[("BITMAP_OR_AGG(BITMAP_BUILD(ARRAY[x, 9]))", "{1,2,3,9}")],
        ),
    ),
    (
        &["BITMAP_OR_CARDINALITY_AGG"],
        doc(
            "the number of members that any bitmap has",
            "所有位图并集的元素个数",
            &[("BITMAP_OR_CARDINALITY_AGG(BITMAP_BUILD(ARRAY[x, 9]))", "4")],
        ),
    ),
    (
        &["BITMAP_XOR_AGG"],
        doc(
            "the members that an odd number of bitmaps have",
            "在奇数个位图中出现的元素",
            &[("BITMAP_XOR_AGG(BITMAP_BUILD(ARRAY[x, x + 1]))", "{1,4}")],
        ),
    ),
    (
        &["BITMAP_XOR_CARDINALITY_AGG"],
        doc(
            "the number of members that an odd number of bitmaps have",
            "在奇数个位图中出现的元素个数",
            &[("BITMAP_XOR_CARDINALITY_AGG(BITMAP_BUILD(ARRAY[x, x + 1]))", "2")],
        ),
    ),
];

/// The description of an aggregate function, by its name in upper case.
pub fn aggregate_doc(name: &str) -> Option<FunctionDoc> {
    DOCS.iter().find(|(names, _)| names.contains(&name)).map(|(_, doc)| *doc)
}
