//! Tokens of one JSON text: strings, numbers, literals, and skipping.
//!
//! As Flink's parser it takes control characters inside strings.

use crate::formats::column::Refusal;

/// How deep a skipped or copied value may be nested.
pub const DEPTH_MAX: usize = 1000;

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailKind {
    /// It is not JSON: what is wrong.
    Syntax(Syntax),
    /// A column did not take a value.
    Refused(Refusal),
    /// A field is missing and must not.
    Missing,
}

/// What is wrong with the structure of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Something else than this must come here.
    Expected(&'static str),
    /// A string without an end.
    OpenString,
    /// A backslash and what does not belong behind it.
    BadEscape,
    /// A number that JSON has no such form for.
    BadNumber,
    /// Deeper than [`DEPTH_MAX`].
    TooDeep,
    /// More text behind the record.
    Trailing,
    /// Bytes that are no characters.
    NotUtf8,
}

/// What is wrong with a record and where; small, because it may happen in every record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fail {
    /// What.
    pub kind: FailKind,
    /// Byte of the record.
    pub at: usize,
}

impl From<Refusal> for Fail {
    /// The position is filled in where it is known.
    fn from(refusal: Refusal) -> Fail {
        Fail { kind: FailKind::Refused(refusal), at: 0 }
    }
}

/// A string between its quotes.
#[derive(Debug, Clone, Copy)]
pub struct Span<'a> {
    /// The bytes as written.
    pub raw: &'a [u8],
    /// Whether there are backslashes in it.
    pub escaped: bool,
}

/// A place in a JSON text.
#[derive(Debug)]
pub struct Reader<'a> {
    data: &'a [u8],
    /// The next byte.
    pub position: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of a text.
    pub fn new(data: &'a [u8]) -> Reader<'a> {
        Reader { data, position: 0 }
    }

    /// At another place of the same text.
    pub fn at(&self, position: usize) -> Reader<'a> {
        Reader { data: self.data, position: position.min(self.data.len()) }
    }

    /// What is wrong at the current place.
    #[cold]
    pub fn syntax(&self, syntax: Syntax) -> Fail {
        Fail { kind: FailKind::Syntax(syntax), at: self.position }
    }

    /// The text from here on.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.data[self.position..]
    }

    /// Goes over `text` if exactly that comes next. For texts of 8 to 16 bytes two words are compared.
    #[inline(always)]
    pub fn eat_text(&mut self, text: &[u8]) -> bool {
        let Some(next) = self.rest().get(..text.len()) else { return false };
        let same = match (next.first_chunk::<8>(), text.first_chunk::<8>()) {
            (Some(a), Some(b)) if text.len() <= 16 => a == b && next.last_chunk::<8>() == text.last_chunk::<8>(),
            _ => next == text,
        };
        self.position += if same { text.len() } else { 0 };
        same
    }

    /// The text from `start` to here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.data[start..self.position]
    }

    /// The next byte; 0 at the end.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.data.get(self.position).copied().unwrap_or(0)
    }

    /// Whether everything was read.
    pub fn at_end(&self) -> bool {
        self.position == self.data.len()
    }

    /// Goes over blanks.
    #[inline]
    pub fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.position += 1;
        }
    }

    /// Goes over `byte` if it comes next.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && !self.at_end();
        self.position += usize::from(found);
        found
    }

    /// A string without escapes; `None`, without moving, if it is no string or has escapes.
    #[inline(always)]
    pub fn plain_string(&mut self) -> Option<&'a [u8]> {
        let (first, content) = self.rest().split_first()?;
        if *first != b'"' {
            return None;
        }
        let end = quote_or_backslash(content)?;
        if content[end] != b'"' {
            return None;
        }
        self.position += end + 2;
        Some(&content[..end])
    }

    /// A whole number of up to 18 digits; `None`, without moving, if it is something else.
    #[inline(always)]
    pub fn small_integer(&mut self) -> Option<i64> {
        let rest = self.rest();
        let negative = rest.first() == Some(&b'-');
        let digits = &rest[usize::from(negative)..];
        let mut value = 0i64;
        let mut count = 0;
        let mut next = 0;
        for byte in &digits[..digits.len().min(19)] {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                next = *byte;
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            count += 1;
        }
        let leading_zero = count > 1 && digits[0] == b'0';
        if count == 0 || count > 18 || leading_zero || matches!(next, b'.' | b'e' | b'E') {
            return None;
        }
        self.position += count + usize::from(negative);
        Some(if negative { -value } else { value })
    }

    /// A string, at its opening quote.
    pub fn string(&mut self) -> Result<Span<'a>, Fail> {
        if let Some(raw) = self.plain_string() {
            return Ok(Span { raw, escaped: false });
        }
        if self.peek() != b'"' {
            return Err(self.syntax(Syntax::Expected("a string")));
        }
        let start = self.position + 1;
        let mut at = start;
        loop {
            let Some(found) = memchr::memchr2(b'"', b'\\', &self.data[at..]) else {
                return Err(self.syntax(Syntax::OpenString));
            };
            at += found;
            if self.data[at] == b'"' {
                self.position = at + 1;
                return Ok(Span { raw: &self.data[start..at], escaped: true });
            }
            at += match self.data.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') if hex(&self.data[at + 2..]).is_some() => 6,
                _ => {
                    self.position = at;
                    return Err(self.syntax(Syntax::BadEscape));
                }
            };
        }
    }

    /// A number as written.
    pub fn number(&mut self) -> Result<&'a [u8], Fail> {
        let rest = self.rest();
        let digits =
            |from: usize| rest[from..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len() - from);
        let bad = self.syntax(Syntax::BadNumber);
        let mut end = usize::from(rest.first() == Some(&b'-'));
        let whole = digits(end);
        if whole == 0 || (whole > 1 && rest[end] == b'0') {
            return Err(bad);
        }
        end += whole;
        if rest.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            if fraction == 0 {
                return Err(bad);
            }
            end += 1 + fraction;
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = if end + 1 + sign < rest.len() { digits(end + 1 + sign) } else { 0 };
            if exponent == 0 {
                return Err(bad);
            }
            end += 1 + sign + exponent;
        }
        self.position += end;
        Ok(&rest[..end])
    }

    /// `true`, `false` or `null`.
    pub fn literal(&mut self, word: &'static str) -> Result<(), Fail> {
        if self.rest().starts_with(word.as_bytes()) {
            self.position += word.len();
            Ok(())
        } else {
            Err(self.syntax(Syntax::Expected("a value")))
        }
    }

    /// The next key of an object, and the colon and blanks behind it; `None` at the end of the object, which is read.
    ///
    /// `first`: the object begins here.
    pub fn next_key(&mut self, first: bool) -> Result<Option<Span<'a>>, Fail> {
        self.skip_space();
        if first {
            if !self.eat(b'{') {
                return Err(self.syntax(Syntax::Expected("an object")));
            }
            self.skip_space();
            if self.eat(b'}') {
                return Ok(None);
            }
        } else {
            if self.eat(b'}') {
                return Ok(None);
            }
            if !self.eat(b',') {
                return Err(self.syntax(Syntax::Expected("',' or '}'")));
            }
            self.skip_space();
        }
        let key = self.string()?;
        self.skip_space();
        if !self.eat(b':') {
            return Err(self.syntax(Syntax::Expected("':'")));
        }
        self.skip_space();
        Ok(Some(key))
    }

    /// Whether an array has a next element, whose place is then here; at the end the bracket is read.
    ///
    /// `first`: the array begins here.
    pub fn next_element(&mut self, first: bool) -> Result<bool, Fail> {
        self.skip_space();
        if first {
            if !self.eat(b'[') {
                return Err(self.syntax(Syntax::Expected("an array")));
            }
            self.skip_space();
            if self.eat(b']') {
                return Ok(false);
            }
        } else {
            if self.eat(b']') {
                return Ok(false);
            }
            if !self.eat(b',') {
                return Err(self.syntax(Syntax::Expected("',' or ']'")));
            }
            self.skip_space();
        }
        Ok(true)
    }

    /// Goes over a value of any kind.
    pub fn skip_value(&mut self) -> Result<(), Fail> {
        self.value(&mut Ignore, 0)
    }

    /// Appends a value without blanks and with the fewest escapes.
    pub fn compact_value(&mut self, out: &mut Vec<u8>) -> Result<(), Fail> {
        self.value(out, 0)
    }

    fn value(&mut self, out: &mut impl Parts, depth: usize) -> Result<(), Fail> {
        if depth > DEPTH_MAX {
            return Err(self.syntax(Syntax::TooDeep));
        }
        self.skip_space();
        match self.peek() {
            b'"' => out.string(self.string()?),
            b'-' | b'0'..=b'9' => out.raw(self.number()?),
            b't' => self.literal("true").map(|()| out.raw(b"true"))?,
            b'f' => self.literal("false").map(|()| out.raw(b"false"))?,
            b'n' => self.literal("null").map(|()| out.raw(b"null"))?,
            b'{' => {
                let mut first = true;
                while let Some(key) = self.next_key(first)? {
                    out.raw(if first { b"{" } else { b"," });
                    out.string(key);
                    out.raw(b":");
                    self.value(out, depth + 1)?;
                    first = false;
                }
                out.raw(if first { b"{}" } else { b"}" });
            }
            b'[' => {
                let mut first = true;
                while self.next_element(first)? {
                    out.raw(if first { b"[" } else { b"," });
                    self.value(out, depth + 1)?;
                    first = false;
                }
                out.raw(if first { b"[]" } else { b"]" });
            }
            _ => return Err(self.syntax(Syntax::Expected("a value"))),
        }
        Ok(())
    }
}

/// Where the parts of a value go.
trait Parts {
    fn raw(&mut self, text: &[u8]);
    fn string(&mut self, span: Span<'_>);
}

struct Ignore;

impl Parts for Ignore {
    #[inline]
    fn raw(&mut self, _: &[u8]) {}
    #[inline]
    fn string(&mut self, _: Span<'_>) {}
}

impl Parts for Vec<u8> {
    fn raw(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
    }

    fn string(&mut self, span: Span<'_>) {
        self.push(b'"');
        if span.escaped {
            let mut plain = Vec::with_capacity(span.raw.len());
            unescape(span.raw, &mut plain);
            escape(&plain, self);
        } else {
            escape(span.raw, self);
        }
        self.push(b'"');
    }
}

/// Where the first quote or backslash is. Short strings are searched eight bytes at a time without a call.
#[inline(always)]
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The lowest high bit marks the first byte of a word that is zero.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    for index in 0..2 {
        let Some(bytes) = text.get(index * 8..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let word = u64::from_le_bytes(*bytes);
        let found = zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64));
        if found != 0 {
            return Some(index * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    memchr::memchr2(b'"', b'\\', text)
}

/// The value of four hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u32> {
    let digits = digits.get(..4)?;
    digits.iter().try_fold(0, |value, byte| Some(value << 4 | (*byte as char).to_digit(16)?))
}

/// Appends a string that [`Reader::string`] has checked, without its escapes. Half a surrogate pair becomes `?`, as it does
/// in Java.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = rest.get(at + 1).copied().unwrap_or(b'?');
        rest = rest.get(at + 2..).unwrap_or(&[]);
        let byte = match escape {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, used) = unicode_escape(rest);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(used..).unwrap_or(&[]);
                continue;
            }
            other => other,
        };
        out.push(byte);
    }
    out.extend_from_slice(rest);
}

/// The character of the hexadecimal digits behind `\u`, with the second half of a pair, and how many bytes that took.
fn unicode_escape(rest: &[u8]) -> (char, usize) {
    let unit = hex(rest).unwrap_or(0xFFFF_FFFF);
    if let Some(character) = char::from_u32(unit) {
        return (character, 4);
    }
    if (0xD800..0xDC00).contains(&unit)
        && rest.get(4..6) == Some(b"\\u")
        && let Some(low) = hex(&rest[6..]).filter(|low| (0xDC00..0xE000).contains(low))
    {
        let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        return (char::from_u32(code).unwrap_or('?'), 10);
    }
    ('?', 4)
}

/// Appends a string with the escapes that JSON needs, in the form of Jackson.
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut done = 0;
    for (index, byte) in text.iter().enumerate() {
        if *byte >= b' ' && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[done..index]);
        done = index + 1;
        let short = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            b'"' | b'\\' => *byte,
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(&text[done..]);
}
