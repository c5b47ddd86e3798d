//! The feed between the driver of a case and the readers of its job.

use super::log::LogEvent;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a reader gets. The channel is unbounded, and holds no more than one feed at a time: the driver waits for rest.
#[derive(Debug, Clone)]
pub enum Fed {
    /// Events of the reader's table.
    Events(Arc<Vec<LogEvent>>),
    /// No more events.
    End,
}

/// The events of a case, and the readers that wait for them.
#[derive(Debug, Default)]
pub struct Feed {
    /// All events of the case.
    pub events: Vec<LogEvent>,
    readers: Mutex<Vec<(String, UnboundedSender<Fed>)>>,
    /// Whether a reader gets all events of its table as soon as it is there: a batch query reads one table after the other.
    at_once: AtomicBool,
}

impl Feed {
    /// The feed of these events.
    pub fn new(events: Vec<LogEvent>) -> Feed {
        Feed { events, readers: Mutex::default(), at_once: AtomicBool::new(false) }
    }

    /// Gives every later reader all events of its table at once.
    pub fn give_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<(String, UnboundedSender<Fed>)>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the readers of the last job.
    pub fn reset(&self) {
        self.readers().clear();
    }

    /// A reader of a table.
    pub fn register(&self, table: &str) -> UnboundedReceiver<Fed> {
        let (sender, receiver) = unbounded_channel();
        if self.at_once.load(Ordering::Relaxed) {
            let events: Vec<LogEvent> = self.events.iter().filter(|event| event.table == table).cloned().collect();
            // The receiver is here.
            let _ = sender.send(Fed::Events(Arc::new(events))).and_then(|()| sender.send(Fed::End));
            return receiver;
        }
        self.readers().push((table.to_string(), sender));
        receiver
    }

    /// Gives events to every reader of their table; whether there is one.
    pub fn give(&self, table: &str, events: &Arc<Vec<LogEvent>>) -> bool {
        let mut any = false;
        for (_, sender) in self.readers().iter().filter(|(name, _)| name == table) {
            any |= sender.send(Fed::Events(events.clone())).is_ok();
        }
        any
    }

    /// Ends the input of every reader.
    pub fn end(&self) {
        for (_, sender) in self.readers().iter() {
            // A reader of a job that has failed is gone.
            let _ = sender.send(Fed::End);
        }
    }

    /// The events in feeds of at most `batch` neighbours of one table.
    pub fn feeds(&self, batch: usize) -> Vec<(String, Arc<Vec<LogEvent>>)> {
        let mut feeds: Vec<(String, Vec<LogEvent>)> = Vec::new();
        for event in &self.events {
            match feeds.last_mut() {
                Some((table, events)) if *table == event.table && events.len() < batch => events.push(event.clone()),
                _ => feeds.push((event.table.clone(), vec![event.clone()])),
            }
        }
        feeds.into_iter().map(|(table, events)| (table, Arc::new(events))).collect()
    }
}
