//! The rows of partial matches: a row is kept once, and ways that begin alike share their beginning.

use super::automaton::Variable;
use arrow::array::ArrayRef;
use arrow::datatypes::FieldRef;
use base::Result;
use state::{EncodedRows, RowStore};

/// No row.
pub(super) const NO_PATH: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    variable: Variable,
    row: u32,
    previous: u32,
    references: u32,
}

/// Ways through a pattern, and the rows on them.
#[derive(Debug)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    rows: RowStore,
    /// By row.
    references: Vec<u32>,
    /// By row: its number in the order in which rows were looked at.
    numbers: Vec<u64>,
    free_rows: Vec<u32>,
}

impl Paths {
    /// No way; rows have these columns.
    pub fn new(fields: Vec<FieldRef>) -> Result<Paths> {
        Ok(Paths {
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            rows: RowStore::new(fields)?,
            references: Vec::new(),
            numbers: Vec::new(),
            free_rows: Vec::new(),
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

    /// Keeps a row. It is gone with the last way through it.
    pub fn add_row(&mut self, encoded: &EncodedRows, row: usize, number: u64) -> u32 {
        let kept = self.free_rows.pop().unwrap_or_else(|| {
            self.references.push(0);
            self.numbers.push(0);
            (self.references.len() - 1) as u32
        });
        self.rows.set(kept, encoded, row);
        self.numbers[kept as usize] = number;
        kept
    }

    /// A way that goes on from `previous` with a row. It belongs to the caller; `previous` still does, too.
    pub fn extend(&mut self, previous: u32, variable: Variable, row: u32) -> u32 {
        self.retain(previous);
        self.references[row as usize] += 1;
        let node = Node { variable, row, previous, references: 1 };
        match self.free_nodes.pop() {
            Some(free) => {
                self.nodes[free as usize] = node;
                free
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
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
            self.references[row as usize] -= 1;
            if self.references[row as usize] == 0 {
                self.rows.clear(row);
                self.free_rows.push(row);
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

    /// The way without its last row.
    pub fn previous(&self, path: u32) -> u32 {
        self.nodes[path as usize].previous
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
            + self.numbers.capacity() * 8
    }
}
