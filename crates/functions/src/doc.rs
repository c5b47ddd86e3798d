//! What the page of functions says about a function: its topic, what it gives, and examples with their values.
//!
//! The examples are run by a test, so that the page cannot say what is not so.

/// The topic that a function is listed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// `=`, IN, LIKE, IS NULL.
    Comparison,
    /// AND, OR, NOT, IS TRUE.
    Logic,
    /// Operators and functions of numbers.
    Arithmetic,
    /// Functions of strings.
    String,
    /// Functions of dates, times and intervals.
    Time,
    /// CASE, COALESCE, IF and their like.
    Conditional,
    /// CAST and TYPEOF.
    Conversion,
    /// ARRAY, MAP and ROW.
    Collection,
    /// JSON texts.
    Json,
    /// VARIANT values.
    Variant,
    /// BITMAP values.
    Bitmap,
    /// Digests of strings.
    Hash,
    /// Aggregate functions.
    Aggregate,
}

impl Category {
    /// Every category, in the order of the page.
    pub const ALL: [Category; 13] = [
        Category::Comparison,
        Category::Logic,
        Category::Arithmetic,
        Category::String,
        Category::Time,
        Category::Conditional,
        Category::Conversion,
        Category::Collection,
        Category::Json,
        Category::Variant,
        Category::Bitmap,
        Category::Hash,
        Category::Aggregate,
    ];

    /// The heading in English and in Chinese.
    pub fn title(self) -> (&'static str, &'static str) {
        match self {
            Category::Comparison => ("Comparison", "比较"),
            Category::Logic => ("Logic", "逻辑"),
            Category::Arithmetic => ("Arithmetic", "数值"),
            Category::String => ("Strings", "字符串"),
            Category::Time => ("Dates and times", "日期与时间"),
            Category::Conditional => ("Conditional", "条件"),
            Category::Conversion => ("Conversion", "类型转换"),
            Category::Collection => ("Collections", "集合"),
            Category::Json => ("JSON", "JSON"),
            Category::Variant => ("Variant", "VARIANT"),
            Category::Bitmap => ("Bitmap", "BITMAP"),
            Category::Hash => ("Digests", "摘要"),
            Category::Aggregate => ("Aggregates", "聚合"),
        }
    }
}

/// The description of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionDoc {
    /// Its topic.
    pub category: Category,
    /// What it gives, in one line of English.
    pub en: &'static str,
    /// The same in Chinese.
    pub zh: &'static str,
    /// Expressions with the text of their value, as results print it (`NULL` for NULL). For an aggregate function the
    /// expression is computed over the rows 1, 2, 3 of a column `x`.
    pub examples: &'static [(&'static str, &'static str)],
}
