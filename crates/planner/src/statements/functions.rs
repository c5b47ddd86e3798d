//! CREATE and DROP FUNCTION.

use super::{name_parts, object_path};
use crate::binder::Binder;
use crate::binder::coerce::sql_type_of;
use crate::binder::positions::{Positions, locate};
use crate::binder::rewrite::is_known_function;
use crate::codes;
use crate::session::{Outcome, Session};
use crate::statement_codes;
use crate::table::plain_schema;
use crate::user_functions::{self, SqlFunction};
use base::{Error, Field, ObjectPath, Result, RowType, SqlType};
use datafusion_common::tree_node::TreeNode;
use functions::CastSupport;
use std::ops::ControlFlow;
use syntax::ast::{Expr, Function, Spanned, VisitMut, VisitorMut};
use syntax::statement::{CreateFunction, Drop, FunctionBody, TextExpr};
use syntax::{TypeName, ast::Ident};

/// CREATE FUNCTION.
pub fn create(session: &mut Session, create: &CreateFunction, positions: &Positions<'_>) -> Result<Outcome> {
    let path = object_path(session, &create.name)?;
    let at_name = |error: Error| locate(error, Some(positions), create.name.span());
    if session.catalogs.functions.get(&path, create.temporary, create.system).is_some() && !create.or_replace {
        if create.if_not_exists {
            return Ok(Outcome::Done);
        }
        let error = Error::new(&codes::ALREADY_EXISTS, &[("kind", &"function"), ("name", &path.name)]);
        return Err(at_name(error));
    }
    session.catalogs.database(&path.catalog, &path.database).map_err(at_name)?;
    let function = match &create.body {
        FunctionBody::Class { class, language, .. } => {
            let language = language.as_deref().unwrap_or("JAVA");
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("name", &path.name), ("language", &language), ("class", class)];
            return Err(at_name(Error::new(&statement_codes::CLASS_FUNCTION, &arguments)));
        }
        FunctionBody::Expression { parameters, returns, expression } => {
            let definition = Definition { create, path: &path, parameters, returns: returns.as_ref(), expression };
            definition.resolve(session, positions)?
        }
    };
    session.catalogs.functions.put(function);
    Ok(Outcome::Done)
}

/// A function from an SQL expression.
struct Definition<'a> {
    create: &'a CreateFunction,
    path: &'a ObjectPath,
    parameters: &'a [(Ident, TypeName)],
    returns: Option<&'a TypeName>,
    expression: &'a TextExpr,
}

impl Definition<'_> {
    fn resolve(&self, session: &Session, positions: &Positions<'_>) -> Result<SqlFunction> {
        let at = |error: Error, span| locate(error, Some(positions), span);
        let sql_type = |name: &TypeName| -> Result<SqlType> {
            name.to_string().parse::<SqlType>().map_err(|error| at(error, name.span))
        };
        let mut parameters: Vec<(String, SqlType)> = Vec::with_capacity(self.parameters.len());
        for (name, type_name) in self.parameters {
            if parameters.iter().any(|(known, _)| *known == name.value) {
                let error = Error::new(&crate::table_codes::DUPLICATE_COLUMN, &[("name", &name.value)]);
                return Err(at(error, name.span));
            }
            parameters.push((name.value.clone(), sql_type(type_name)?.with_nullable(true)));
        }
        self.refuse_parts(session).map_err(|error| at(error, self.expression.span))?;
        let fields = parameters.iter().map(|(name, sql_type)| Field::new(name.clone(), sql_type.clone())).collect();
        let row = RowType::new(fields);
        let binder = Binder::new(&session.catalogs, session.function_context()?, Some(positions));
        let bound = binder
            .expression(&self.expression.expr, &row)
            .map_err(|error| locate(error, Some(positions), self.expression.span))?;
        let is_aggregate = |expr: &datafusion_expr::Expr| {
            Ok(matches!(expr, datafusion_expr::Expr::AggregateFunction(_) | datafusion_expr::Expr::WindowFunction(_)))
        };
        if bound.exists(is_aggregate).map_err(Error::internal)? {
            return Err(at(self.body_error("an aggregate function"), self.expression.span));
        }
        let given = sql_type_of(&bound, &plain_schema(&row)?).map_err(Error::internal)?;
        let returns = self.returns.map(sql_type).transpose()?.unwrap_or_else(|| given.clone());
        let castable = given.logical == returns.logical
            || given.logical == base::LogicalType::Null
            || !matches!(functions::can_cast(&given, &returns), CastSupport::No);
        if !castable {
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("name", &self.path.name), ("from", &given.logical), ("to", &returns.logical)];
            return Err(at(Error::new(&statement_codes::FUNCTION_RETURN, &arguments), self.expression.span));
        }
        let mut expression = self.expression.expr.clone();
        user_functions::inline(&mut expression, &session.catalogs, Some(positions))?;
        Ok(SqlFunction {
            path: self.path.clone(),
            parameters,
            returns: returns.with_nullable(true),
            expression,
            sql: self.expression.text.clone(),
            temporary: self.create.temporary,
            system: self.create.system,
        })
    }

    fn body_error(&self, what: &str) -> Error {
        Error::new(&statement_codes::FUNCTION_BODY, &[("name", &self.path.name), ("what", &what)])
    }

    /// Refuses subqueries, and calls of the function itself.
    fn refuse_parts(&self, session: &Session) -> Result<()> {
        struct Parts<'a> {
            is_self: &'a dyn Fn(&Function) -> bool,
            subquery: bool,
            recursion: bool,
        }
        impl VisitorMut for Parts<'_> {
            type Break = ();

            fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
                match expr {
                    Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => self.subquery = true,
                    Expr::Function(function) => self.recursion |= (self.is_self)(function),
                    _ => {}
                }
                ControlFlow::Continue(())
            }
        }
        // A plain name is the function itself unless it means another one already.
        let is_self = |function: &Function| match name_parts(&function.name).as_slice() {
            [name] if !name.eq_ignore_ascii_case(&self.path.name) => false,
            [name] => {
                let other = user_functions::resolve(&session.catalogs, std::slice::from_ref(name)).is_some()
                    || is_known_function(&name.to_uppercase());
                self.create.or_replace || !other
            }
            parts => session.catalogs.path(parts).is_ok_and(|path| {
                path.name.eq_ignore_ascii_case(&self.path.name)
                    && (&path.catalog, &path.database) == (&self.path.catalog, &self.path.database)
            }),
        };
        let mut parts = Parts { is_self: &is_self, subquery: false, recursion: false };
        let _ = self.expression.expr.clone().visit(&mut parts);
        match (parts.recursion, parts.subquery) {
            (true, _) => Err(Error::new(&statement_codes::FUNCTION_RECURSION, &[("name", &self.path.name)])),
            (false, true) => Err(self.body_error("a subquery")),
            (false, false) => Ok(()),
        }
    }
}

/// DROP FUNCTION.
pub fn drop(session: &mut Session, drop: &Drop) -> Result<Outcome> {
    let path = object_path(session, &drop.name)?;
    let functions = &mut session.catalogs.functions;
    let dropped = functions.remove(&path, drop.temporary, drop.system)
        // Without TEMPORARY a temporary one is meant where there is no other.
        || !drop.temporary && functions.remove(&path, true, false);
    match dropped || drop.if_exists {
        true => Ok(Outcome::Done),
        false => Err(Error::new(&statement_codes::NO_SUCH_FUNCTION, &[("name", &path.name)])),
    }
}
