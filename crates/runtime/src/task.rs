//! Runs a task to its end and says how it ended.

use crate::assembly::Task;
use crate::chain::{Chain, abort};
use crate::checkpoint::TaskSnapshot;
use crate::shared::{Remains, Report, TaskId, cancelled};
use base::Result;
use base::connector::SourceReader;
use tokio::sync::{mpsc, watch};

/// Runs a task. Its last report is on its way when this returns, except that of a cancelled task: there is none.
pub(crate) async fn drive(id: TaskId, mut task: Task, cancel: watch::Receiver<bool>, reports: mpsc::Sender<Report>) {
    let result = tokio::select! {
        biased;
        () = cancelled(cancel) => None,
        result = run(&mut task, &reports) => Some(result),
    };
    let (chain, reader) = split(task);
    // Sending fails only if the coordinator is gone, and then nobody waits for a report.
    match result {
        None => abort(chain.into_remains().writers).await,
        Some(Err(error)) => {
            let _ = reports.send(Report::Failed { error }).await;
            abort(chain.into_remains().writers).await;
        }
        Some(Ok(snapshot)) => {
            let remains = Remains { reader, ..chain.into_remains() };
            let _ = reports.send(Report::Ended { task: id, snapshot, remains }).await;
        }
    }
}

async fn run(task: &mut Task, reports: &mpsc::Sender<Report>) -> Result<TaskSnapshot> {
    match task {
        Task::Source(task) => task.run(reports).await,
        Task::Channels(task) => task.run(reports).await,
    }
}

/// What is left of a task: its inputs are closed with the rest.
fn split(task: Task) -> (Chain, Option<Box<dyn SourceReader>>) {
    match task {
        Task::Source(task) => (task.chain, Some(task.reader)),
        Task::Channels(task) => (task.chain, None),
    }
}
