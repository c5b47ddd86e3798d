//! Compiled expressions: the bridge from DataFusion's bound expressions to [`base::Expression`].
//!
//! A bound expression is compiled once into a [`Tree`] over column positions. Trees can be put into each other, so that a
//! chain of filters and projections becomes one operator, and are evaluated batch by batch with our own functions: no
//! DataFusion code runs on the hot path.

mod compile;
mod evaluate;
mod text;

pub use compile::{Compiler, from_datafusion};

use arrow::array::{ArrayRef, RecordBatch};
use base::expression::HiddenColumn;
use base::function::{FunctionContext, ScalarFunction};
use base::{Expression, LogicalType, Result, SqlType};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Names of functions that stand for hidden columns in bound expressions.
pub const HIDDEN_FUNCTIONS: [(&str, HiddenColumn); 3] = [
    ("$processing_time", HiddenColumn::ProcessingTime),
    ("$watermark", HiddenColumn::Watermark),
    ("$random", HiddenColumn::Random),
];

/// A question about truth or NULL; the answer is never NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// IS NULL.
    Null,
    /// IS NOT NULL.
    NotNull,
    /// IS TRUE.
    True,
    /// IS NOT TRUE.
    NotTrue,
    /// IS FALSE.
    False,
    /// IS NOT FALSE.
    NotFalse,
}

/// An expression over the columns of one input, by position.
#[derive(Debug, Clone)]
pub enum Tree {
    /// A column of the input.
    Column {
        /// Its position.
        index: usize,
        /// Its type.
        sql_type: SqlType,
    },
    /// A column that the runtime appends.
    Hidden {
        /// What it holds.
        column: HiddenColumn,
        /// Tells calls apart whose values differ: two RAND() in one row.
        call: usize,
        /// Where the column is, once the operator that reads it is made.
        position: Option<usize>,
    },
    /// A constant.
    Literal {
        /// One row.
        value: ArrayRef,
        /// Its type.
        sql_type: SqlType,
    },
    /// A function call or operator.
    Call {
        /// The function.
        function: Arc<dyn ScalarFunction>,
        /// Arguments.
        arguments: Vec<Tree>,
        /// The type of the result.
        sql_type: SqlType,
    },
    /// A cast that planning itself needs, to line up types.
    Cast {
        /// What is cast.
        input: Box<Tree>,
        /// The target type.
        sql_type: SqlType,
        /// Whether a value that does not fit becomes NULL.
        try_cast: bool,
    },
    /// AND over two or more; what follows a false condition is not evaluated for that row.
    And(Vec<Tree>),
    /// OR over two or more; what follows a true condition is not evaluated for that row.
    Or(Vec<Tree>),
    /// NOT.
    Not(Box<Tree>),
    /// IS NULL and the like.
    Is {
        /// What is asked about.
        input: Box<Tree>,
        /// The question.
        test: Test,
    },
    /// CASE WHEN; a result is evaluated only for the rows that take it.
    Case {
        /// Conditions and results.
        branches: Vec<(Tree, Tree)>,
        /// ELSE.
        otherwise: Option<Box<Tree>>,
        /// The type of the result.
        sql_type: SqlType,
    },
}

impl Tree {
    /// The type of the values.
    pub fn sql_type(&self) -> SqlType {
        match self {
            Tree::Column { sql_type, .. }
            | Tree::Literal { sql_type, .. }
            | Tree::Call { sql_type, .. }
            | Tree::Cast { sql_type, .. }
            | Tree::Case { sql_type, .. } => sql_type.clone(),
            Tree::Hidden { column, .. } => column.sql_type(),
            Tree::And(parts) | Tree::Or(parts) => {
                LogicalType::Boolean.nullable().with_nullable(parts.iter().any(|part| part.sql_type().nullable))
            }
            Tree::Not(input) => input.sql_type(),
            Tree::Is { .. } => LogicalType::Boolean.not_null(),
        }
    }

    /// AND of all; nested ones are flattened.
    pub fn and(parts: Vec<Tree>) -> Tree {
        let parts = parts.into_iter().flat_map(|part| match part {
            Tree::And(inner) => inner,
            other => vec![other],
        });
        Tree::And(parts.collect())
    }

    /// OR of all; nested ones are flattened.
    pub fn or(parts: Vec<Tree>) -> Tree {
        let parts = parts.into_iter().flat_map(|part| match part {
            Tree::Or(inner) => inner,
            other => vec![other],
        });
        Tree::Or(parts.collect())
    }

    /// The direct parts.
    pub fn children(&self) -> Vec<&Tree> {
        match self {
            Tree::Column { .. } | Tree::Hidden { .. } | Tree::Literal { .. } => Vec::new(),
            Tree::Call { arguments, .. } => arguments.iter().collect(),
            Tree::Cast { input, .. } | Tree::Not(input) | Tree::Is { input, .. } => vec![input],
            Tree::And(parts) | Tree::Or(parts) => parts.iter().collect(),
            Tree::Case { branches, otherwise, .. } => {
                let branches = branches.iter().flat_map(|(condition, result)| [condition, result]);
                branches.chain(otherwise.as_deref()).collect()
            }
        }
    }

    /// A copy whose leaves are replaced where `leaf` gives something.
    pub fn replace(&self, leaf: &mut dyn FnMut(&Tree) -> Option<Tree>) -> Tree {
        let mut all = |trees: &[Tree]| trees.iter().map(|tree| tree.replace(leaf)).collect::<Vec<_>>();
        match self {
            Tree::Column { .. } | Tree::Hidden { .. } | Tree::Literal { .. } => {
                leaf(self).unwrap_or_else(|| self.clone())
            }
            Tree::Call { function, arguments, sql_type } => {
                Tree::Call { function: function.clone(), arguments: all(arguments), sql_type: sql_type.clone() }
            }
            Tree::And(parts) => Tree::And(all(parts)),
            Tree::Or(parts) => Tree::Or(all(parts)),
            Tree::Cast { input, sql_type, try_cast } => {
                Tree::Cast { input: Box::new(input.replace(leaf)), sql_type: sql_type.clone(), try_cast: *try_cast }
            }
            Tree::Not(input) => Tree::Not(Box::new(input.replace(leaf))),
            Tree::Is { input, test } => Tree::Is { input: Box::new(input.replace(leaf)), test: *test },
            Tree::Case { branches, otherwise, sql_type } => Tree::Case {
                branches: branches.iter().map(|(when, then)| (when.replace(leaf), then.replace(leaf))).collect(),
                otherwise: otherwise.as_ref().map(|tree| Box::new(tree.replace(leaf))),
                sql_type: sql_type.clone(),
            },
        }
    }

    /// This tree over the input of `projection` instead of its output.
    pub fn over(&self, projection: &[Tree]) -> Tree {
        self.replace(&mut |leaf| match leaf {
            Tree::Column { index, .. } => projection.get(*index).cloned(),
            _ => None,
        })
    }

    /// Calls `visit` for this tree and all parts.
    pub fn visit(&self, visit: &mut dyn FnMut(&Tree)) {
        visit(self);
        for child in self.children() {
            child.visit(visit);
        }
    }

    /// The positions of the input columns it reads.
    pub fn columns(&self) -> BTreeSet<usize> {
        let mut columns = BTreeSet::new();
        self.visit(&mut |tree| {
            if let Tree::Column { index, .. } = tree {
                columns.insert(*index);
            }
        });
        columns
    }

    /// The column it is, if it is no more than that.
    pub fn as_column(&self) -> Option<usize> {
        match self {
            Tree::Column { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// The hidden columns that it reads, with the call that tells them apart.
    pub fn hidden(&self) -> Vec<(HiddenColumn, usize)> {
        let mut hidden = Vec::new();
        self.visit(&mut |tree| {
            if let Tree::Hidden { column, call, .. } = tree
                && !hidden.contains(&(*column, *call))
            {
                hidden.push((*column, *call));
            }
        });
        hidden
    }

    /// Whether it is the same for every row.
    pub fn is_constant(&self) -> bool {
        self.columns().is_empty() && self.hidden().is_empty() && self.is_deterministic()
    }

    /// Whether the same columns, hidden ones included, always give the same value.
    pub fn is_deterministic(&self) -> bool {
        let mut deterministic = true;
        self.visit(&mut |tree| {
            if let Tree::Call { function, .. } = tree {
                deterministic &= function.is_deterministic();
            }
        });
        deterministic
    }

    /// Whether evaluating it for a row that does not need it does no harm: it cannot fail and costs little.
    fn is_harmless(&self) -> bool {
        const HARMLESS: [&str; 8] = ["=", "<>", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL"];
        let mut harmless = true;
        self.visit(&mut |tree| {
            harmless &= match tree {
                Tree::Call { function, .. } => HARMLESS.contains(&function.name()),
                Tree::Cast { .. } | Tree::Case { .. } => false,
                _ => true,
            };
        });
        harmless
    }
}

/// The text of a tree over named columns.
pub fn sql(tree: &Tree, names: &[String]) -> String {
    text::render(tree, names, text::Form::Sql)
}

/// The text of a tree that is equal only for trees that compute the same.
pub fn digest(tree: &Tree, names: &[String]) -> String {
    text::render(tree, names, text::Form::Digest)
}

/// An expression ready to run.
#[derive(Debug)]
pub struct Compiled {
    tree: Tree,
    sql_type: SqlType,
    sql: String,
    digest: String,
    context: FunctionContext,
}

impl Compiled {
    /// `tree` over an input whose columns have these names; `identities` are the names used in digests.
    pub fn new(tree: Tree, names: &[String], identities: &[String], context: &FunctionContext) -> Compiled {
        Compiled {
            sql_type: tree.sql_type(),
            sql: sql(&tree, names),
            digest: digest(&tree, identities),
            tree,
            context: context.clone(),
        }
    }
}

impl Expression for Compiled {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        evaluate::evaluate(&self.tree, batch, &self.context)
    }

    fn sql_type(&self) -> &SqlType {
        &self.sql_type
    }

    fn sql(&self) -> String {
        self.sql.clone()
    }

    fn digest(&self) -> String {
        self.digest.clone()
    }

    fn columns(&self) -> Vec<usize> {
        self.tree.columns().into_iter().collect()
    }

    fn as_column(&self) -> Option<usize> {
        self.tree.as_column()
    }

    fn is_deterministic(&self) -> bool {
        self.tree.is_deterministic() && self.tree.hidden().is_empty()
    }
}

/// The value of a constant tree: one row.
///
/// # Errors
/// What its functions raise.
pub fn constant(tree: &Tree, context: &FunctionContext) -> Result<ArrayRef> {
    evaluate::constant(tree, context)
}

#[cfg(test)]
mod tests;
