//! Functions from SQL expressions: `CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE SQL RETURN a + 1`.
//!
//! A call is replaced by the expression before anything is bound, so that such a function costs nothing at run time.
//! The expression is kept with the functions that it calls already in place: dropping one later changes nothing.

use crate::binder::positions::{Positions, locate};
use crate::binder::rewrite::{self, is_known_function};
use crate::catalog::Catalogs;
use crate::statement_codes;
use base::{Error, ObjectPath, Result, SqlType};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{
    AccessExpr, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    ObjectNamePart, Spanned, Visit, VisitMut, Visitor, VisitorMut,
};
use syntax::dialect::FLINK_TYPE;

/// How the name of the cast of an argument starts; function, parameter and type follow, each after [`SEPARATOR`].
pub const ARGUMENT_PREFIX: &str = "$ARGUMENT\u{1}";
/// Between the parts of the name of such a cast.
pub const SEPARATOR: char = '\u{1}';
/// The most expressions that a call may become: functions that call functions grow fast.
const EXPRESSIONS_MAX: usize = 5_000;
/// How deep the expression of a call may be.
const LEVELS_MAX: usize = 150;

/// A function.
#[derive(Debug, Clone)]
pub struct SqlFunction {
    /// Full name; the last part as written.
    pub path: ObjectPath,
    /// Names and types of its parameters.
    pub parameters: Vec<(String, SqlType)>,
    /// The type of its result.
    pub returns: SqlType,
    /// The expression over the parameters.
    pub expression: Expr,
    /// The expression as written.
    pub sql: String,
    /// Whether it was made by CREATE TEMPORARY FUNCTION.
    pub temporary: bool,
    /// Whether it was made by CREATE TEMPORARY SYSTEM FUNCTION: it belongs to no database.
    pub system: bool,
}

impl SqlFunction {
    /// `f(a INT, b STRING) RETURNS STRING`.
    pub fn signature(&self) -> String {
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, sql_type)| format!("{name} {sql_type}")).collect();
        format!("{}({}) RETURNS {}", self.path.name, parameters.join(", "), self.returns.logical)
    }
}

/// The functions that statements have made. Names are compared without letter case, as Flink does.
#[derive(Debug, Clone, Default)]
pub struct UserFunctions {
    system: BTreeMap<String, Arc<SqlFunction>>,
    temporary: BTreeMap<ObjectPath, Arc<SqlFunction>>,
    permanent: BTreeMap<ObjectPath, Arc<SqlFunction>>,
}

fn key(path: &ObjectPath) -> ObjectPath {
    ObjectPath { name: path.name.to_uppercase(), ..path.clone() }
}

impl UserFunctions {
    fn is_empty(&self) -> bool {
        self.system.is_empty() && self.temporary.is_empty() && self.permanent.is_empty()
    }

    /// Whether the others are these very functions.
    pub fn is_same(&self, other: &UserFunctions) -> bool {
        fn same<K: Ord>(one: &BTreeMap<K, Arc<SqlFunction>>, other: &BTreeMap<K, Arc<SqlFunction>>) -> bool {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(one.1, other.1))
        }
        same(&self.system, &other.system)
            && same(&self.temporary, &other.temporary)
            && same(&self.permanent, &other.permanent)
    }

    /// Adds a function, replacing one of the same name and kind.
    pub fn put(&mut self, function: SqlFunction) {
        let path = key(&function.path);
        let function = Arc::new(function);
        match (function.system, function.temporary) {
            (true, _) => self.system.insert(path.name, function),
            (false, true) => self.temporary.insert(path, function),
            (false, false) => self.permanent.insert(path, function),
        };
    }

    /// The function of this path and kind.
    pub fn get(&self, path: &ObjectPath, temporary: bool, system: bool) -> Option<&Arc<SqlFunction>> {
        let path = key(path);
        match (system, temporary) {
            (true, _) => self.system.get(&path.name),
            (false, true) => self.temporary.get(&path),
            (false, false) => self.permanent.get(&path),
        }
    }

    /// Removes a function; `false` if there was none.
    pub fn remove(&mut self, path: &ObjectPath, temporary: bool, system: bool) -> bool {
        let path = key(path);
        let removed = match (system, temporary) {
            (true, _) => self.system.remove(&path.name),
            (false, true) => self.temporary.remove(&path),
            (false, false) => self.permanent.remove(&path),
        };
        removed.is_some()
    }

    /// Drops the functions of a catalog or of one database.
    pub fn forget(&mut self, catalog: &str, database: Option<&str>) {
        let keep = |path: &ObjectPath| path.catalog != catalog || database.is_some_and(|name| path.database != name);
        self.temporary.retain(|path, _| keep(path));
        self.permanent.retain(|path, _| keep(path));
    }

    /// The functions that can be called by their plain name in a database.
    pub fn of(&self, catalog: &str, database: &str) -> Vec<&Arc<SqlFunction>> {
        let here = |path: &ObjectPath| path.catalog == catalog && path.database == database;
        let local = self.temporary.iter().chain(&self.permanent).filter(|(path, _)| here(path));
        self.system.values().chain(local.map(|(_, function)| function)).collect()
    }
}

/// The function that a call means: temporary system functions, then built-in ones, then those of the database.
pub fn resolve(catalogs: &Catalogs, parts: &[String]) -> Option<Arc<SqlFunction>> {
    let functions = &catalogs.functions;
    if let [name] = parts {
        let upper = name.to_uppercase();
        if let Some(function) = functions.system.get(&upper) {
            return Some(function.clone());
        }
        if is_known_function(&upper) {
            return None;
        }
    }
    let path = key(&catalogs.path(parts).ok()?);
    functions.temporary.get(&path).or_else(|| functions.permanent.get(&path)).cloned()
}

/// Puts expressions in the place of calls.
///
/// # Errors
/// Arguments that a function does not take.
pub fn inline(tree: &mut impl VisitMut, catalogs: &Catalogs, positions: Option<&Positions<'_>>) -> Result<()> {
    if catalogs.functions.is_empty() {
        return Ok(());
    }
    let mut inliner = Inliner { catalogs, positions, expressions: 0, error: None };
    let _ = VisitMut::visit(tree, &mut inliner);
    inliner.error.map_or(Ok(()), Err)
}

struct Inliner<'a> {
    catalogs: &'a Catalogs,
    positions: Option<&'a Positions<'a>>,
    /// What calls have become so far.
    expressions: usize,
    error: Option<Error>,
}

impl VisitorMut for Inliner<'_> {
    type Break = ();

    /// Arguments come first, so that what is put in is finished.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::Function(function) = &*expr else { return ControlFlow::Continue(()) };
        let parts: Vec<String> =
            function.name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.clone()).collect();
        if parts.first().is_none_or(|first| first.starts_with('$')) {
            return ControlFlow::Continue(());
        }
        let Some(found) = resolve(self.catalogs, &parts) else { return ControlFlow::Continue(()) };
        let span = function.name.span();
        let result = call(&found, function).and_then(|called| {
            let (expressions, levels) = measure(&called);
            self.expressions += expressions;
            match self.expressions > EXPRESSIONS_MAX || levels > LEVELS_MAX {
                true => Err(Error::new(&statement_codes::FUNCTION_SIZE, &[("name", &found.path.name)])),
                false => Ok(called),
            }
        });
        match result {
            Ok(called) => {
                *expr = called;
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.error = Some(locate(error, self.positions, span));
                ControlFlow::Break(())
            }
        }
    }
}

/// How many expressions a tree has, and on how many levels.
fn measure(expr: &Expr) -> (usize, usize) {
    struct Measure {
        expressions: usize,
        level: usize,
        levels: usize,
    }
    impl Visitor for Measure {
        type Break = ();

        fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
            self.expressions += 1;
            self.level += 1;
            self.levels = self.levels.max(self.level);
            // The rest need not be looked at.
            if self.levels > LEVELS_MAX || self.expressions > EXPRESSIONS_MAX {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }

        fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
            self.level -= 1;
            ControlFlow::Continue(())
        }
    }
    let mut measure = Measure { expressions: 0, level: 0, levels: 0 };
    let _ = Visit::visit(expr, &mut measure);
    (measure.expressions, measure.levels)
}

/// The expression that a call stands for.
fn call(function: &SqlFunction, written: &Function) -> Result<Expr> {
    let name = &function.path.name;
    let list: &[FunctionArg] = match &written.args {
        FunctionArguments::List(list) if list.duplicate_treatment.is_none() && list.clauses.is_empty() => &list.args,
        FunctionArguments::None => &[],
        _ => return Err(Error::new(&statement_codes::FUNCTION_CLAUSE, &[("name", name)])),
    };
    if written.over.is_some() || written.filter.is_some() || !written.within_group.is_empty() {
        return Err(Error::new(&statement_codes::FUNCTION_CLAUSE, &[("name", name)]));
    }
    let wrong = || {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("name", name), ("signature", &function.signature()), ("given", &list.len())];
        Error::new(&statement_codes::FUNCTION_ARGUMENTS, &arguments)
    };
    if list.len() != function.parameters.len() {
        return Err(wrong());
    }
    let mut given: BTreeMap<&str, Expr> = BTreeMap::new();
    for (argument, (parameter, _)) in list.iter().zip(&function.parameters) {
        let (parameter, value) = match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (parameter.as_str(), value),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => (name.value.as_str(), value),
            _ => return Err(wrong()),
        };
        given.insert(parameter, value.clone());
    }
    let mut arguments: BTreeMap<String, (Expr, usize)> = BTreeMap::new();
    for (parameter, sql_type) in &function.parameters {
        let value = given.remove(parameter.as_str()).ok_or_else(wrong)?;
        let marker = format!("{ARGUMENT_PREFIX}{name}{SEPARATOR}{parameter}{SEPARATOR}{}", sql_type.logical);
        let size = measure(&value).0;
        arguments.insert(parameter.clone(), (rewrite::call(&marker, vec![value]), size));
    }
    let mut body = function.expression.clone();
    let mut substitute = Substitute { arguments: &arguments, left: EXPRESSIONS_MAX, place: written.name.span() };
    if VisitMut::visit(&mut body, &mut substitute).is_break() {
        return Err(Error::new(&statement_codes::FUNCTION_SIZE, &[("name", name)]));
    }
    Ok(Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(body),
        data_type: DataType::Custom(
            ObjectName::from(vec![Ident::new(FLINK_TYPE)]),
            vec![function.returns.logical.to_string()],
        ),
        array: false,
        format: None,
    })
}

/// Puts arguments in the place of parameters; breaks off when that becomes too much.
struct Substitute<'a> {
    /// By parameter, with their sizes.
    arguments: &'a BTreeMap<String, (Expr, usize)>,
    /// How many expressions may still be put in.
    left: usize,
    /// Where the call stands: mistakes around it must not be told at the place of the definition.
    place: Span,
}

impl Substitute<'_> {
    fn argument(&mut self, parameter: &Ident) -> ControlFlow<(), Option<Expr>> {
        let Some((argument, size)) = self.arguments.get(&parameter.value) else { return ControlFlow::Continue(None) };
        match self.left.checked_sub(*size) {
            Some(left) => {
                self.left = left;
                ControlFlow::Continue(Some(argument.clone()))
            }
            None => ControlFlow::Break(()),
        }
    }
}

impl VisitorMut for Substitute<'_> {
    type Break = ();

    /// After its parts, so that a column of the caller is never taken for a parameter.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => {
                if let Some(argument) = self.argument(ident)? {
                    *expr = argument;
                }
            }
            Expr::CompoundIdentifier(parts) => {
                if let Some((first, fields)) = parts.split_first()
                    && let Some(argument) = self.argument(first)?
                {
                    let access_chain =
                        fields.iter().map(|field| AccessExpr::Dot(Expr::Identifier(field.clone()))).collect();
                    *expr = Expr::CompoundFieldAccess { root: Box::new(argument), access_chain };
                }
            }
            Expr::Value(value) => value.span = self.place,
            Expr::Function(function) => {
                for part in &mut function.name.0 {
                    if let ObjectNamePart::Identifier(ident) = part {
                        ident.span = self.place;
                    }
                }
            }
            Expr::Case { case_token, end_token, .. } => {
                case_token.0.span = self.place;
                end_token.0.span = self.place;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
