//! The statements of Flink SQL. Queries and expressions in them are trees of `sqlparser`.

use crate::hints::Hint;
use crate::types::TypeName;
use sqlparser::ast::{self, Expr, FunctionArg, Ident, ObjectName};
use sqlparser::tokenizer::Span;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `SELECT`, `WITH`, `VALUES`, `TABLE t`.
    Query(Box<ast::Query>),
    /// `INSERT`.
    Insert(Box<Insert>),
    /// `EXECUTE STATEMENT SET BEGIN .. END` and its older form.
    StatementSet(Vec<Insert>),
    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `CREATE VIEW`.
    CreateView(Box<CreateView>),
    /// `CREATE CATALOG`.
    CreateCatalog(CreateObject),
    /// `CREATE DATABASE`.
    CreateDatabase(CreateObject),
    /// `CREATE FUNCTION`.
    CreateFunction(CreateFunction),
    /// `ALTER TABLE`.
    AlterTable(Box<AlterTable>),
    /// `ALTER VIEW`.
    AlterView(Box<AlterView>),
    /// `ALTER CATALOG` or `ALTER DATABASE`.
    AlterSpace(AlterSpace),
    /// `DROP`.
    Drop(Drop),
    /// `USE`.
    Use(Use),
    /// `SHOW`.
    Show(Show),
    /// `DESCRIBE`.
    Describe(Describe),
    /// `EXPLAIN`.
    Explain(Explain),
    /// `SET 'key' = 'value'`.
    Set {
        /// Option key.
        key: String,
        /// Its value.
        value: String,
        /// Where the key stands.
        key_span: Span,
        /// Where the value stands.
        value_span: Span,
    },
    /// `SET` alone: show all options.
    SetAll,
    /// `RESET 'key'`, or `RESET` of all options.
    Reset(Option<String>),
    /// `UPDATE`, `DELETE`, `MERGE`.
    Modify(Box<Modify>),
    /// `CALL`.
    Call(Call),
    /// `LOAD MODULE`.
    LoadModule {
        /// Its name.
        name: Ident,
        /// Its options.
        options: Vec<TableOption>,
    },
    /// `UNLOAD MODULE`.
    UnloadModule(Ident),
    /// `ANALYZE TABLE`.
    Analyze {
        /// The table.
        table: ObjectName,
        /// The text after it.
        rest: String,
    },
    /// `TRUNCATE TABLE`.
    Truncate(ObjectName),
    /// Any other statement of Flink, known by name only.
    Other {
        /// What it is, as `CREATE MATERIALIZED TABLE`.
        keyword: String,
        /// The text after those words.
        text: String,
    },
}

/// An option of a table, catalog or database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOption {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where the key stands.
    pub key_span: Span,
    /// Where the value stands.
    pub value_span: Span,
}

/// An expression and the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct TextExpr {
    /// The tree.
    pub expr: Expr,
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A query and the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct TextQuery {
    /// The tree.
    pub query: Box<ast::Query>,
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `INSERT INTO|OVERWRITE t [PARTITION (..)] [(columns)] query [ON CONFLICT DO ..]`
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The target.
    pub table: ObjectName,
    /// Hints after its name.
    pub hints: Vec<Hint>,
    /// Target columns; empty means all.
    pub columns: Vec<Ident>,
    /// `OVERWRITE` instead of `INTO`.
    pub overwrite: bool,
    /// Static partition; a column without a value is a dynamic one.
    pub partition: Vec<(Ident, Option<Expr>)>,
    /// What is inserted.
    pub query: Box<ast::Query>,
    /// What happens to rows whose key is there already.
    pub on_conflict: Option<OnConflict>,
    /// The text of the statement.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `ON CONFLICT DO ..`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Keep the last row of a key.
    Deduplicate,
    /// Fail.
    Error,
    /// Keep the first row of a key.
    Nothing,
}

/// `CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] name ...`, `REPLACE TABLE name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: ObjectName,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `REPLACE TABLE`: the table must be there.
    pub must_exist: bool,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Columns, constraints and options.
    pub definition: TableDefinition,
    /// `LIKE other (..)`.
    pub like: Option<Like>,
    /// `AS query`.
    pub query: Option<TextQuery>,
}

/// What stands between the name of a table and `LIKE` or `AS`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableDefinition {
    /// Columns in order.
    pub columns: Vec<Column>,
    /// The primary key, wherever it was written.
    pub primary_key: Option<PrimaryKey>,
    /// The watermark.
    pub watermark: Option<Watermark>,
    /// `COMMENT 'text'`.
    pub comment: Option<String>,
    /// `PARTITIONED BY (..)`.
    pub partitioned_by: Vec<PartitionField>,
    /// `DISTRIBUTED ..`.
    pub distribution: Option<Distribution>,
    /// `USING format`, as Spark writes it.
    pub using: Option<Ident>,
    /// `WITH (..)`, and `TBLPROPERTIES (..)`.
    pub options: Vec<TableOption>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Ident,
    /// Where its values come from.
    pub kind: ColumnKind,
    /// `COMMENT 'text'`.
    pub comment: Option<String>,
    /// `FIRST` or `AFTER c`, in ALTER TABLE.
    pub position: Option<ColumnPosition>,
    /// Where the definition stands.
    pub span: Span,
}

/// The kinds of columns.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Stored in the table.
    Physical(TypeName),
    /// `AS expression`.
    Computed(Box<TextExpr>),
    /// `type METADATA [FROM 'key'] [VIRTUAL]`.
    Metadata {
        /// Its type.
        type_name: TypeName,
        /// `FROM 'key'`; else the column's name is the key.
        key: Option<String>,
        /// `VIRTUAL`: not written to a sink.
        is_virtual: bool,
    },
    /// A name only, in `CREATE TABLE t (a, b) AS query`.
    Named,
}

/// Where ALTER TABLE puts a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnPosition {
    /// Before all others.
    First,
    /// After this one.
    After(Ident),
}

/// A primary key.
#[derive(Debug, Clone, PartialEq)]
pub struct PrimaryKey {
    /// `CONSTRAINT name`.
    pub name: Option<Ident>,
    /// Its columns.
    pub columns: Vec<Ident>,
    /// Whether `NOT ENFORCED` was written.
    pub not_enforced: bool,
    /// Where it stands.
    pub span: Span,
}

/// `WATERMARK FOR column AS expression`
#[derive(Debug, Clone, PartialEq)]
pub struct Watermark {
    /// The column; several parts name a nested field.
    pub column: Vec<Ident>,
    /// The expression.
    pub expression: TextExpr,
    /// Where the clause stands.
    pub span: Span,
}

/// One entry of PARTITIONED BY.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionField {
    /// A column.
    Column(Ident),
    /// A transform of Iceberg: `days(ts)`, `bucket(16, id)`.
    Transform {
        /// Its name in lower case.
        name: String,
        /// Number of buckets, or width.
        argument: Option<u64>,
        /// The column.
        column: Ident,
        /// Where it stands.
        span: Span,
    },
}

/// `DISTRIBUTED [BY [HASH|RANGE] (..)] [INTO n BUCKETS]`
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// `HASH` or `RANGE`.
    pub kind: Option<String>,
    /// The columns.
    pub columns: Vec<Ident>,
    /// Number of buckets.
    pub buckets: Option<u64>,
}

/// `LIKE table (INCLUDING ALL, ...)`
#[derive(Debug, Clone, PartialEq)]
pub struct Like {
    /// The other table.
    pub table: ObjectName,
    /// What is taken from it.
    pub options: Vec<LikeOption>,
}

/// `INCLUDING|EXCLUDING|OVERWRITING feature`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikeOption {
    /// What happens to the feature.
    pub strategy: LikeStrategy,
    /// `ALL`, `CONSTRAINTS`, `DISTRIBUTION`, `GENERATED`, `METADATA`, `OPTIONS`, `PARTITIONS` or `WATERMARKS`.
    pub feature: String,
}

/// What LIKE does with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeStrategy {
    /// Take it; a duplicate is an error.
    Including,
    /// Leave it.
    Excluding,
    /// Take it; what the new table says wins.
    Overwriting,
}

/// `CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT ..] AS query`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Its name.
    pub name: ObjectName,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Names and comments of its columns; empty means those of the query.
    pub columns: Vec<(Ident, Option<String>)>,
    /// `COMMENT 'text'`.
    pub comment: Option<String>,
    /// The query.
    pub query: TextQuery,
}

/// `CREATE CATALOG|DATABASE [IF NOT EXISTS] name [COMMENT ..] [WITH (..)]`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateObject {
    /// Its name.
    pub name: ObjectName,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `COMMENT 'text'`.
    pub comment: Option<String>,
    /// Its options.
    pub options: Vec<TableOption>,
}

/// `CREATE [OR REPLACE] [TEMPORARY [SYSTEM]] FUNCTION [IF NOT EXISTS] name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateFunction {
    /// Its name.
    pub name: ObjectName,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `SYSTEM`.
    pub system: bool,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// What it does.
    pub body: FunctionBody,
}

/// What a function does.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionBody {
    /// `AS 'class' [LANGUAGE ..] [USING ..]`
    Class {
        /// The class or path.
        class: String,
        /// `LANGUAGE ..`, in upper case.
        language: Option<String>,
        /// The text after that, as `USING JAR '..'`.
        rest: String,
    },
    /// `(parameters) [RETURNS type] [LANGUAGE SQL] RETURN expression`
    Expression {
        /// Names and types of its parameters.
        parameters: Vec<(Ident, TypeName)>,
        /// The type of its result.
        returns: Option<TypeName>,
        /// The expression over the parameters.
        expression: Box<TextExpr>,
    },
}

/// `ALTER TABLE [IF EXISTS] name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// What to do.
    pub operation: AlterOperation,
}

/// What ALTER TABLE does.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterOperation {
    /// `RENAME TO name`
    RenameTable(ObjectName),
    /// `RENAME a TO b`; the old name may be a nested field.
    RenameColumn {
        /// The old name.
        from: Vec<Ident>,
        /// The new name.
        to: Ident,
    },
    /// `SET (..)`
    SetOptions(Vec<TableOption>),
    /// `RESET ('key', ..)`
    ResetOptions(Vec<String>),
    /// `SET PARTITION SPEC (..)`
    SetPartitionSpec(Vec<PartitionField>),
    /// `ADD ..`: columns, key, watermark, distribution.
    Add(TableDefinition),
    /// `MODIFY ..`
    Modify(TableDefinition),
    /// `DROP a` or `DROP (a, b)`
    DropColumns(Vec<Ident>),
    /// `DROP PRIMARY KEY`
    DropPrimaryKey,
    /// `DROP CONSTRAINT name`
    DropConstraint(Ident),
    /// `DROP WATERMARK`
    DropWatermark,
    /// `DROP DISTRIBUTION`
    DropDistribution,
    /// Anything else: its text.
    Other(String),
}

/// `ALTER VIEW [IF EXISTS] name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterView {
    /// The view.
    pub name: ObjectName,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// What to do.
    pub operation: ViewOperation,
}

/// What ALTER VIEW does.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewOperation {
    /// `RENAME TO name`
    Rename(ObjectName),
    /// `AS query`
    Query(TextQuery),
}

/// `ALTER CATALOG|DATABASE name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterSpace {
    /// [`ObjectKind::Catalog`] or [`ObjectKind::Database`].
    pub kind: ObjectKind,
    /// Its name.
    pub name: ObjectName,
    /// What to do.
    pub operation: SpaceOperation,
}

/// What ALTER CATALOG and ALTER DATABASE do.
#[derive(Debug, Clone, PartialEq)]
pub enum SpaceOperation {
    /// `SET (..)`
    Set(Vec<TableOption>),
    /// `RESET ('key', ..)`
    Reset(Vec<String>),
    /// `COMMENT 'text'`
    Comment(String),
}

/// `DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name [CASCADE]`
#[derive(Debug, Clone, PartialEq)]
pub struct Drop {
    /// What is dropped.
    pub kind: ObjectKind,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `SYSTEM`.
    pub system: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// `CASCADE`.
    pub cascade: bool,
}

/// The kinds of objects of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Table.
    Table,
    /// View.
    View,
    /// Catalog.
    Catalog,
    /// Database.
    Database,
    /// Function.
    Function,
    /// Model.
    Model,
    /// Connection.
    Connection,
    /// Materialized table.
    MaterializedTable,
}

/// `USE ..`
#[derive(Debug, Clone, PartialEq)]
pub enum Use {
    /// `USE CATALOG c`
    Catalog(Ident),
    /// `USE [c.]d`
    Database(ObjectName),
    /// `USE MODULES a, b`
    Modules(Vec<Ident>),
}

/// `SHOW what [FROM|IN name] [[NOT] LIKE|ILIKE 'pattern']`
#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    /// What is shown: `TABLES`, `CURRENT CATALOG`, `CREATE TABLE`, `COLUMNS`, `FULL MODULES` ...
    pub subject: String,
    /// The name after it, or after `FROM`.
    pub name: Option<ObjectName>,
    /// Which of them.
    pub filter: Option<ShowFilter>,
}

/// `[NOT] LIKE|ILIKE 'pattern'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowFilter {
    /// `NOT`.
    pub negated: bool,
    /// `ILIKE`.
    pub ignore_case: bool,
    /// The pattern.
    pub pattern: String,
}

/// `DESCRIBE [CATALOG|DATABASE|FUNCTION|MODEL] [EXTENDED] name`
#[derive(Debug, Clone, PartialEq)]
pub struct Describe {
    /// What the name names; a table or view unless said.
    pub kind: ObjectKind,
    /// `EXTENDED`.
    pub extended: bool,
    /// The name.
    pub name: ObjectName,
}

/// `EXPLAIN [details | PLAN FOR] statement`
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// What is shown besides the plan.
    pub details: Vec<ExplainDetail>,
    /// The query, INSERT or statement set.
    pub statement: Box<Statement>,
}

/// A part of the output of EXPLAIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainDetail {
    /// `ESTIMATED_COST`
    EstimatedCost,
    /// `CHANGELOG_MODE`
    ChangelogMode,
    /// `JSON_EXECUTION_PLAN`
    JsonExecutionPlan,
    /// `PLAN_ADVICE`
    PlanAdvice,
}

/// `UPDATE`, `DELETE` or `MERGE`
#[derive(Debug, Clone, PartialEq)]
pub struct Modify {
    /// Which one.
    pub kind: ModifyKind,
    /// The tree of `sqlparser`.
    pub statement: ast::Statement,
    /// The text of the statement.
    pub text: String,
}

/// The statements that change rows in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModifyKind {
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
    /// `MERGE`
    Merge,
}

/// `CALL procedure(..)`
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The procedure.
    pub name: ObjectName,
    /// Its arguments.
    pub arguments: Vec<FunctionArg>,
}
