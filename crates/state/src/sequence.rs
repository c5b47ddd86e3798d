//! Numbers in an order that somebody else knows: a list cut into chunks, so that inserting costs a search and a short move
//! however long the list is, and the position of an element can be told.

/// A chunk is cut in two when it gets longer.
const CHUNK_MAX: usize = 512;
/// A chunk that gets shorter is put together with the next one if both are short.
const CHUNK_MIN: usize = CHUNK_MAX / 4;

/// A position in a [`Sequence`], until that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    chunk: usize,
    offset: usize,
}

/// An ordered list. Short ones, which most are, have one chunk.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    first: Vec<u32>,
    /// The other chunks; none of them is empty, and there are none if the first one is.
    more: Vec<Vec<u32>>,
    len: usize,
}

impl Sequence {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    fn chunk(&self, chunk: usize) -> &[u32] {
        match chunk {
            0 => &self.first,
            _ => self.more.get(chunk - 1).map_or(&[], Vec::as_slice),
        }
    }

    fn chunk_mut(&mut self, chunk: usize) -> &mut Vec<u32> {
        match chunk {
            0 => &mut self.first,
            _ => &mut self.more[chunk - 1],
        }
    }

    /// Where the elements end for which `before` holds: they all come first.
    pub fn partition_point(&self, before: impl Fn(u32) -> bool) -> Place {
        let chunk = self.more.partition_point(|chunk| before(chunk[0]));
        let offset = self.chunk(chunk).partition_point(|&element| before(element));
        self.normal(Place { chunk, offset })
    }

    /// The end of a chunk is the start of the next one.
    fn normal(&self, place: Place) -> Place {
        match place.offset == self.chunk(place.chunk).len() && place.chunk < self.more.len() {
            true => Place { chunk: place.chunk + 1, offset: 0 },
            false => place,
        }
    }

    /// The element at a place; `None` at the end.
    pub fn get(&self, place: Place) -> Option<u32> {
        self.chunk(place.chunk).get(place.offset).copied()
    }

    /// The place behind.
    pub fn next(&self, place: Place) -> Place {
        self.normal(Place { offset: place.offset + 1, ..place })
    }

    /// The last element.
    pub fn last(&self) -> Option<u32> {
        self.more.last().unwrap_or(&self.first).last().copied()
    }

    /// The place of the last element.
    pub fn last_place(&self) -> Option<Place> {
        let chunk = self.more.len();
        Some(Place { chunk, offset: self.chunk(chunk).len().checked_sub(1)? })
    }

    /// How many elements come before a place, if they are fewer than `limit`.
    pub fn index(&self, place: Place, limit: usize) -> Option<usize> {
        let mut index = place.offset;
        for chunk in 0..place.chunk {
            if index >= limit {
                return None;
            }
            index += self.chunk(chunk).len();
        }
        (index < limit).then_some(index)
    }

    /// The place with so many elements before it.
    pub fn at(&self, index: usize) -> Place {
        let mut offset = index;
        for chunk in 0..self.more.len() {
            let len = self.chunk(chunk).len();
            if offset < len {
                return Place { chunk, offset };
            }
            offset -= len;
        }
        let chunk = self.more.len();
        Place { chunk, offset: offset.min(self.chunk(chunk).len()) }
    }

    /// Puts an element before the one at a place.
    pub fn insert(&mut self, place: Place, element: u32) {
        let chunk = self.chunk_mut(place.chunk);
        chunk.insert(place.offset, element);
        if chunk.len() > CHUNK_MAX {
            let rest = chunk.split_off(CHUNK_MAX / 2);
            self.more.insert(place.chunk, rest);
        }
        self.len += 1;
    }

    /// Puts another element in the place of one.
    pub fn replace(&mut self, place: Place, element: u32) {
        self.chunk_mut(place.chunk)[place.offset] = element;
    }

    /// Takes the element at a place out.
    pub fn remove(&mut self, place: Place) -> u32 {
        let element = self.chunk_mut(place.chunk).remove(place.offset);
        self.len -= 1;
        self.join(place.chunk);
        element
    }

    /// Puts a chunk that has become short together with the next one.
    fn join(&mut self, chunk: usize) {
        let len = self.chunk(chunk).len();
        if len >= CHUNK_MIN || self.more.is_empty() {
            return;
        }
        if chunk < self.more.len() && len + self.more[chunk].len() <= CHUNK_MAX / 2 {
            let next = self.more.remove(chunk);
            self.chunk_mut(chunk).extend(next);
        } else if len == 0 && chunk == 0 {
            self.first = self.more.remove(0);
        } else if len == 0 {
            self.more.remove(chunk - 1);
        }
    }

    /// Takes the first elements out, as long as `wanted` holds, at most `max`.
    pub fn take_front(&mut self, max: usize, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut taken: Vec<u32> = Vec::new();
        while taken.len() < max && self.len > 0 {
            let len = self.first.len().min(max - taken.len());
            let count = self.first[..len].iter().take_while(|&&element| wanted(element)).count();
            taken.extend(self.first.drain(..count));
            self.len -= count;
            self.join(0);
            if count < len {
                break;
            }
        }
        taken
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first.iter().chain(self.more.iter().flatten()).copied()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let more: usize = self.more.iter().map(|chunk| chunk.capacity() * 4).sum();
        self.first.capacity() * 4 + self.more.capacity() * size_of::<Vec<u32>>() + more
    }
}

#[cfg(test)]
#[path = "sequence_tests.rs"]
mod tests;
