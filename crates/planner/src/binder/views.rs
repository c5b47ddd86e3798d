//! Views: bound where they were made, and once only for as long as nothing that they read has changed.
//!
//! While a statement is bound a view is a scan of its columns. Its plan takes the place of the scan afterwards, so that
//! what is finished already is not looked at again.

use super::{Binder, windows};
use crate::catalog::{CatalogObject, Catalogs, View};
use crate::codes;
use crate::user_functions::UserFunctions;
use arrow::datatypes::SchemaRef;
use base::function::FunctionContext;
use base::{Error, ObjectPath, Result};
use datafusion_common::Result as PlanResult;
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_expr::TableSource;
use datafusion_expr::logical_plan::{LogicalPlan, SubqueryAlias};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// A view that is bound, and all that its plan follows from.
#[derive(Debug)]
pub struct BoundView {
    /// Its plan.
    pub plan: Arc<LogicalPlan>,
    /// The hints of its query and of the views below.
    hints: Vec<syntax::Hint>,
    /// What its query and the views below read.
    reads: Reads,
    functions: UserFunctions,
    context: FunctionContext,
}

/// Tables and views by their full name.
pub type Reads = Vec<(ObjectPath, CatalogObject)>;

impl BoundView {
    /// Whether binding the view again would give the same.
    fn is_current(&self, catalogs: &Catalogs, context: &FunctionContext) -> bool {
        let FunctionContext { time_zone, legacy_cast } = context;
        self.context.time_zone == *time_zone
            && self.context.legacy_cast == *legacy_cast
            && self.functions.is_same(&catalogs.functions)
            && self.reads.iter().all(|(path, object)| catalogs.get(path).is_some_and(|now| now.is_same(object)))
    }
}

/// Where a view keeps what binding it gave. A copy of a view, which may differ, starts without.
#[derive(Debug, Default)]
pub struct BoundOnce(Mutex<Option<Arc<BoundView>>>);

impl Clone for BoundOnce {
    fn clone(&self) -> BoundOnce {
        BoundOnce::default()
    }
}

impl BoundOnce {
    fn get(&self) -> Option<Arc<BoundView>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, bound: Arc<BoundView>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bound);
    }
}

impl Binder<'_> {
    /// Binds the query of a view where the view was made.
    ///
    /// # Errors
    /// What its query reads has changed, or it reads itself.
    pub(crate) fn bind_view(&self, view: &View) -> Result<Arc<LogicalPlan>> {
        if self.open_views.contains(&view.path) {
            return Err(Error::new(&codes::VIEW_CYCLE, &[("name", &view.path.name)]));
        }
        // Without a connector an OPTIONS hint is an error, also in a view that was bound with one.
        let known = view.bound.get().filter(|_| self.connector.is_some());
        let bound = match known.filter(|bound| bound.is_current(self.catalogs, &self.functions)) {
            Some(bound) => bound,
            None => {
                let bound = Arc::new(self.bind_view_anew(view)?);
                view.bound.set(bound.clone());
                bound
            }
        };
        self.keep_hints(bound.hints.clone());
        self.keep_reads(&bound.reads);
        Ok(bound.plan.clone())
    }

    /// Gives a view what this binder has bound for it, a plan of nothing but its query.
    ///
    /// # Errors
    /// A bug.
    pub(crate) fn seed_view(&self, view: &View, plan: LogicalPlan) -> Result<()> {
        view.bound.set(Arc::new(self.bound_view(view, plan)?));
        Ok(())
    }

    fn bind_view_anew(&self, view: &View) -> Result<BoundView> {
        let catalogs = self.catalogs.at_home(&view.home);
        let mut open_views = self.open_views.clone();
        open_views.push(view.path.clone());
        let mut inner = Binder::new(&catalogs, self.functions.clone(), None);
        inner.connector = self.connector.clone();
        inner.open_views = open_views;
        let plan = inner.query(&view.query).map_err(|error| view.broken(error))?;
        inner.bound_view(view, plan)
    }

    /// What a view keeps of the plan of its query, bound by this binder and nothing else.
    fn bound_view(&self, view: &View, plan: LogicalPlan) -> Result<BoundView> {
        let named = match view.columns.is_empty() {
            true => Ok(plan),
            false => windows::rename(plan, &view.columns),
        };
        let plan = named.and_then(unordered).map_err(|error| Error::new(&codes::BIND, &[("reason", &error)]))?;
        Ok(BoundView {
            plan: Arc::new(plan),
            hints: self.hints.borrow().clone(),
            reads: self.reads.borrow().clone(),
            functions: self.catalogs.functions.clone(),
            context: self.functions.clone(),
        })
    }

    /// Keeps what is read, each once.
    pub(super) fn keep_reads(&self, more: &[(ObjectPath, CatalogObject)]) {
        let mut reads = self.reads.borrow_mut();
        for (path, object) in more {
            if !reads.iter().any(|(known, _)| known == path) {
                reads.push((path.clone(), object.clone()));
            }
        }
    }
}

/// A view in a statement that is being bound.
#[derive(Debug)]
pub struct ViewSource {
    plan: Arc<LogicalPlan>,
}

impl ViewSource {
    /// A view by its plan.
    pub fn new(plan: Arc<LogicalPlan>) -> ViewSource {
        ViewSource { plan }
    }
}

impl TableSource for ViewSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.plan.schema().inner().clone()
    }
}

/// Puts the plans of views in the place of their scans.
///
/// # Errors
/// A bug.
pub fn expand(plan: LogicalPlan) -> PlanResult<LogicalPlan> {
    let expanded = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        let Some(view) = scan.source.as_any().downcast_ref::<ViewSource>() else { return Ok(Transformed::no(node)) };
        let alias = SubqueryAlias::try_new(view.plan.clone(), scan.table_name.clone())?;
        let plan = windows::screen(LogicalPlan::SubqueryAlias(alias))?;
        Ok(Transformed::new(plan, true, TreeNodeRecursion::Jump))
    })?;
    Ok(expanded.data)
}

/// ORDER BY of a view means nothing to the query that reads it, unless LIMIT takes the first rows.
fn unordered(plan: LogicalPlan) -> PlanResult<LogicalPlan> {
    let mut limited = false;
    let changed = plan.transform_down(|node| {
        limited |= matches!(node, LogicalPlan::Limit(_));
        match node {
            LogicalPlan::Sort(sort) if !limited => Ok(Transformed::yes(Arc::unwrap_or_clone(sort.input))),
            other => Ok(Transformed::no(other)),
        }
    })?;
    Ok(changed.data)
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
