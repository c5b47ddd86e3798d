//! The rows of partial matches: a row is kept once, and ways that begin alike share their beginning.

use super::automaton::Variable;
use arrow::array::ArrayRef;
use arrow::datatypes::FieldRef;
use base::Result;
use state::{EncodedRows, RowNumbers, RowStore, Scope};

/// No row.
pub(super) const NO_PATH: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    variable: Variable,
    row: u32,
    previous: u32,
    references: u32,
    /// Its place in the order in which ways were made: what snapshots call it.
    serial: u64,
}

/// The rows or the ways of a snapshot: all in the order in which they were made, or those that are new since the last one.
#[derive(Debug)]
pub(super) struct Taken {
    pub places: Vec<u32>,
    pub numbers: Vec<u32>,
    /// The numbers of those that are gone; `None` if these are all.
    pub gone: Option<Vec<u32>>,
}

fn take(known: &mut RowNumbers, scope: Scope, live: usize, all: impl FnOnce() -> Vec<u32>) -> Taken {
    let (places, gone) = known.take(scope, live, all);
    Taken { numbers: known.numbers(&places), places, gone }
}

/// Ways through a pattern, and the rows on them.
#[derive(Debug)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    next_serial: u64,
    /// By node.
    known_nodes: RowNumbers,
    rows: RowStore,
    /// By row.
    references: Vec<u32>,
    /// By row: its number in the order in which rows were looked at.
    numbers: Vec<u64>,
    /// By row: the slot of its partition.
    owners: Vec<u32>,
    free_rows: Vec<u32>,
    /// By row.
    known_rows: RowNumbers,
}

impl Paths {
    /// No way; rows have these columns.
    pub fn new(fields: Vec<FieldRef>) -> Result<Paths> {
        Ok(Paths {
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            next_serial: 0,
            known_nodes: RowNumbers::default(),
            rows: RowStore::new(fields)?,
            references: Vec::new(),
            numbers: Vec::new(),
            owners: Vec::new(),
            free_rows: Vec::new(),
            known_rows: RowNumbers::default(),
        })
    }

    /// The columns of rows.
    pub fn fields(&self) -> &[FieldRef] {
        self.rows.fields()
    }

    /// Encodes rows.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<EncodedRows> {
        self.rows.encode(columns)
    }

    /// Keeps a row of a partition. It is gone with the last way through it.
    pub fn add_row(&mut self, encoded: &EncodedRows, row: usize, number: u64, slot: u32) -> u32 {
        let kept = self.free_rows.pop().unwrap_or_else(|| {
            self.references.push(0);
            self.numbers.push(0);
            self.owners.push(0);
            (self.references.len() - 1) as u32
        });
        self.rows.set(kept, encoded, row);
        self.numbers[kept as usize] = number;
        self.owners[kept as usize] = slot;
        self.known_rows.added(kept);
        kept
    }

    /// A way that goes on from `previous` with a row. It belongs to the caller; `previous` still does, too.
    pub fn extend(&mut self, previous: u32, variable: Variable, row: u32) -> u32 {
        self.retain(previous);
        self.references[row as usize] += 1;
        let node = Node { variable, row, previous, references: 1, serial: self.next_serial };
        self.next_serial += 1;
        let path = match self.free_nodes.pop() {
            Some(free) => {
                self.nodes[free as usize] = node;
                free
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.known_nodes.added(path);
        path
    }

    /// One more owner of a way.
    pub fn retain(&mut self, path: u32) {
        if path != NO_PATH {
            self.nodes[path as usize].references += 1;
        }
    }

    /// One owner less.
    pub fn release(&mut self, path: u32) {
        let mut path = path;
        while path != NO_PATH {
            let node = &mut self.nodes[path as usize];
            node.references -= 1;
            if node.references > 0 {
                return;
            }
            let Node { row, previous, .. } = *node;
            self.free_nodes.push(path);
            self.known_nodes.removed(path);
            self.references[row as usize] -= 1;
            if self.references[row as usize] == 0 {
                self.rows.clear(row);
                self.free_rows.push(row);
                self.known_rows.removed(row);
            }
            path = previous;
        }
    }

    /// The rows of a way from the last one to the first: the end of the way to there, the variable, the row.
    pub fn backwards(&self, path: u32) -> impl Iterator<Item = (u32, Variable, u32)> + '_ {
        let at = |path: u32| (path != NO_PATH).then_some(path);
        std::iter::successors(at(path), move |&path| at(self.nodes[path as usize].previous)).map(|path| {
            let node = &self.nodes[path as usize];
            (path, node.variable, node.row)
        })
    }

    /// A way: its name in snapshots, that of the way without its last row, the variable and the row.
    pub fn step(&self, path: u32) -> (u64, Option<u64>, Variable, u32) {
        let node = &self.nodes[path as usize];
        let previous = (node.previous != NO_PATH).then(|| self.serial(node.previous));
        (node.serial, previous, node.variable, node.row)
    }

    /// The name of a way in snapshots.
    pub fn serial(&self, path: u32) -> u64 {
        self.nodes[path as usize].serial
    }

    /// The slot of a row's partition.
    pub fn owner(&self, row: u32) -> u32 {
        self.owners[row as usize]
    }

    /// The rows of a snapshot.
    pub fn take_rows(&mut self, scope: Scope) -> Taken {
        let live = self.rows();
        let Paths { known_rows, references, numbers, .. } = self;
        take(known_rows, scope, live, || {
            let mut rows: Vec<u32> = (0..references.len() as u32).filter(|&row| references[row as usize] > 0).collect();
            rows.sort_unstable_by_key(|&row| (numbers[row as usize], row));
            rows
        })
    }

    /// The ways of a snapshot. A way comes behind the one that it goes on from.
    pub fn take_ways(&mut self, scope: Scope) -> Taken {
        let live = self.nodes.len() - self.free_nodes.len();
        let Paths { known_nodes, nodes, .. } = self;
        take(known_nodes, scope, live, || {
            let mut ways: Vec<u32> =
                (0..nodes.len() as u32).filter(|&path| nodes[path as usize].references > 0).collect();
            ways.sort_unstable_by_key(|&path| nodes[path as usize].serial);
            ways
        })
    }

    /// The number of a row.
    pub fn number(&self, row: u32) -> u64 {
        self.numbers[row as usize]
    }

    /// Kept rows as columns.
    pub fn columns(&self, rows: &[u32]) -> Result<Vec<ArrayRef>> {
        self.rows.columns(rows)
    }

    /// The number of rows that are kept.
    pub fn rows(&self) -> usize {
        self.references.len() - self.free_rows.len()
    }

    /// Bytes on the heap, roughly.
    pub fn heap_bytes(&self) -> usize {
        self.rows.heap_bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + (self.free_nodes.capacity() + self.references.capacity() + self.free_rows.capacity()) * 4
            + self.owners.capacity() * 4
            + self.numbers.capacity() * 8
            + self.known_nodes.heap_bytes()
            + self.known_rows.heap_bytes()
    }
}
