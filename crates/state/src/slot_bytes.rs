//! One byte string per slot, in one growing buffer: no allocation per entry.
//!
//! Replaced and cleared strings leave garbage behind; when half of a large buffer is garbage, it is written anew.

/// Below this many bytes of garbage the buffer is left alone.
const GARBAGE_MIN: usize = 64 * 1024;

/// Where the bytes of a slot are.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    length: usize,
}

/// The span of a slot without bytes.
const NONE: Span = Span { start: 0, length: usize::MAX };

/// Byte strings indexed by slot.
#[derive(Debug, Default)]
pub(crate) struct SlotBytes {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    garbage: usize,
}

impl SlotBytes {
    /// The bytes of a slot; `None` if it has none (which is not the same as empty bytes).
    pub fn get(&self, slot: u32) -> Option<&[u8]> {
        let span = self.spans.get(slot as usize)?;
        (span.length != NONE.length).then(|| &self.bytes[span.start..span.start + span.length])
    }

    /// Replaces the bytes of a slot.
    pub fn set(&mut self, slot: u32, bytes: &[u8]) {
        let slot = slot as usize;
        if slot >= self.spans.len() {
            self.spans.resize(slot + 1, NONE);
        }
        let old = self.spans[slot];
        if old.length != NONE.length && old.length >= bytes.len() {
            // The new content fits into the old place.
            self.bytes[old.start..old.start + bytes.len()].copy_from_slice(bytes);
            self.garbage += old.length - bytes.len();
            self.spans[slot].length = bytes.len();
            return;
        }
        if old.length != NONE.length {
            self.garbage += old.length;
            self.spans[slot] = NONE;
            self.compact();
        }
        self.spans[slot] = Span { start: self.bytes.len(), length: bytes.len() };
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the bytes of a slot away.
    pub fn clear(&mut self, slot: u32) {
        if let Some(span) = self.spans.get_mut(slot as usize)
            && span.length != NONE.length
        {
            self.garbage += span.length;
            *span = NONE;
            self.compact();
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }

    fn compact(&mut self) {
        if self.garbage < GARBAGE_MIN || self.garbage * 2 < self.bytes.len() {
            return;
        }
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.garbage);
        for span in self.spans.iter_mut().filter(|span| span.length != NONE.length) {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[span.start..span.start + span.length]);
            span.start = start;
        }
        self.bytes = bytes;
        self.garbage = 0;
    }
}

#[cfg(test)]
#[path = "slot_bytes_tests.rs"]
mod tests;
