//! Java's regular expressions in the syntax of the `regex` crate.
//!
//! Three things can happen to a pattern: it is translated; it is no pattern to Java either, and the function gives NULL or
//! FALSE as Flink does; or it is one that the crate cannot run in linear time (look-around, back references, possessive
//! quantifiers), and the statement is refused by name.

use super::patterns::bad_pattern;
use base::Result;
use regex::Regex;
use regex_syntax::ast::ErrorKind;

/// Characters that `.` does not match in Java: its line ends.
const NOT_LINE_END: &str = "[^\\n\\r\\u{85}\\u{2028}\\u{2029}]";

/// Classes of Java by name, ASCII only.
const ASCII_CLASSES: [(&str, &str); 13] = [
    ("Lower", "a-z"),
    ("Upper", "A-Z"),
    ("ASCII", "\\x00-\\x7F"),
    ("Alpha", "a-zA-Z"),
    ("Digit", "0-9"),
    ("Alnum", "a-zA-Z0-9"),
    ("Punct", "!-/:-@\\[-`{-~"),
    ("Graph", "!-~"),
    ("Print", " -~"),
    ("Blank", " \\t"),
    ("Cntrl", "\\x00-\\x1F\\x7F"),
    ("XDigit", "0-9a-fA-F"),
    ("Space", " \\t\\n\\x0B\\f\\r"),
];

/// The pattern compiled; `None` if Java refuses it too.
///
/// # Errors
/// A pattern that Java takes and that cannot be run here.
pub(crate) fn compile(function: &str, pattern: &str) -> Result<Option<Regex>> {
    let translated = match Translator::new(pattern).translate() {
        Ok(translated) => translated,
        Err(Refused::Invalid) => return Ok(None),
        Err(Refused::Unsupported(why)) => return Err(bad_pattern(function, pattern, &why)),
    };
    if let Err(error) = regex_syntax::Parser::new().parse(&translated) {
        let unsupported = match &error {
            regex_syntax::Error::Parse(error) => matches!(
                error.kind(),
                ErrorKind::UnsupportedBackreference
                    | ErrorKind::UnsupportedLookAround
                    | ErrorKind::NestLimitExceeded(_)
                    | ErrorKind::CaptureLimitExceeded
            ),
            // A class or property that the crate does not know.
            _ => true,
        };
        return if unsupported { Err(bad_pattern(function, pattern, &error)) } else { Ok(None) };
    }
    Regex::new(&translated).map(Some).map_err(|error| bad_pattern(function, pattern, &error))
}

/// Why a pattern is not translated.
enum Refused {
    /// Java refuses it as well.
    Invalid,
    Unsupported(&'static str),
}

struct Translator<'a> {
    rest: std::str::Chars<'a>,
    out: String,
    /// Brackets of classes that are open.
    classes: usize,
    /// Whether `.` matches line ends, for every open group.
    dot_all: Vec<bool>,
}

impl<'a> Translator<'a> {
    fn new(pattern: &'a str) -> Translator<'a> {
        Translator {
            rest: pattern.chars(),
            out: String::with_capacity(pattern.len() + 16),
            classes: 0,
            dot_all: vec![false],
        }
    }

    fn translate(mut self) -> std::result::Result<String, Refused> {
        // Whether a quantifier was just written: another `+` makes it possessive.
        let mut quantified = false;
        while let Some(c) = self.rest.next() {
            let was_quantified = std::mem::take(&mut quantified);
            if c == '\\' {
                self.escape()?;
                continue;
            }
            if self.classes > 0 {
                self.in_class(c);
                continue;
            }
            match c {
                '[' => {
                    self.classes = 1;
                    self.out.push(c);
                }
                '(' => self.group()?,
                ')' => {
                    if self.dot_all.len() > 1 {
                        self.dot_all.pop();
                    }
                    self.out.push(c);
                }
                '.' if self.dot_all.last() != Some(&true) => self.out.push_str(NOT_LINE_END),
                '+' if was_quantified => return Err(Refused::Unsupported("possessive quantifiers are not supported")),
                '*' | '+' | '?' | '}' => {
                    // `a*?` is reluctant; a third sign is refused by the crate.
                    quantified = c != '?' || !was_quantified;
                    self.out.push(c);
                }
                _ => self.out.push(c),
            }
        }
        Ok(self.out)
    }

    fn in_class(&mut self, c: char) {
        match c {
            '[' => self.classes += 1,
            ']' => self.classes -= 1,
            // Set operations of the crate that Java does not have.
            '-' | '~' if self.rest.as_str().starts_with(c) => self.out.push('\\'),
            _ => {}
        }
        self.out.push(c);
    }

    /// `(`, with what follows a `?`.
    fn group(&mut self) -> std::result::Result<(), Refused> {
        let inherited = self.dot_all.last() == Some(&true);
        let rest = self.rest.as_str();
        self.out.push('(');
        let Some(inside) = rest.strip_prefix('?') else {
            self.dot_all.push(inherited);
            return Ok(());
        };
        if inside.starts_with('>') {
            return Err(Refused::Unsupported("atomic groups are not supported"));
        }
        let flags = &inside[..inside.find(|c: char| !c.is_ascii_alphabetic() && c != '-').unwrap_or(inside.len())];
        if flags.contains(['d', 'U']) {
            return Err(Refused::Unsupported("the flags d and U are not supported"));
        }
        if flags.contains('R') {
            return Err(Refused::Invalid);
        }
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let dot_all = (inherited || on.contains('s')) && !off.contains('s');
        match inside[flags.len()..].chars().next() {
            // `(?s)` holds for the rest of the group around it.
            Some(')') if !flags.is_empty() => {
                if let Some(current) = self.dot_all.last_mut() {
                    *current = dot_all;
                }
                self.dot_all.push(dot_all);
            }
            _ => self.dot_all.push(dot_all),
        }
        Ok(())
    }

    /// A set of characters, in or out of a class.
    fn set(&mut self, members: &str, negated: bool) {
        match (self.classes > 0, negated) {
            (true, false) => self.out.push_str(members),
            (_, true) => self.out.push_str(&format!("[^{members}]")),
            (false, false) => self.out.push_str(&format!("[{members}]")),
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> std::result::Result<(), Refused> {
        const SPACE: &str = " \\t\\n\\x0B\\f\\r";
        const VERTICAL: &str = "\\n\\x0B\\f\\r\\u{85}\\u{2028}\\u{2029}";
        const HORIZONTAL: &str = " \\t\\u{A0}\\u{1680}\\u{180E}\\u{2000}-\\u{200A}\\u{202F}\\u{205F}\\u{3000}";
        let Some(next) = self.rest.next() else { return Err(Refused::Invalid) };
        match next {
            // Java's classes are ASCII.
            'd' | 'D' => self.set("0-9", next == 'D'),
            'w' | 'W' => self.set("a-zA-Z0-9_", next == 'W'),
            's' | 'S' => self.set(SPACE, next == 'S'),
            'v' | 'V' => self.set(VERTICAL, next == 'V'),
            'h' | 'H' => self.set(HORIZONTAL, next == 'H'),
            'R' => self.out.push_str(&format!("(?:\\r\\n|[{VERTICAL}])")),
            'Z' => self.out.push_str("\\z"),
            'e' => self.out.push_str("\\x1B"),
            'c' => {
                let control = self.rest.next().filter(char::is_ascii).ok_or(Refused::Invalid)?;
                self.out.push_str(&format!("\\x{:02X}", control as u32 ^ 64));
            }
            '0' => self.octal()?,
            'Q' => {
                let rest = self.rest.as_str();
                let (literal, after) = rest.split_once("\\E").unwrap_or((rest, ""));
                self.out.push_str(&regex::escape(literal));
                self.rest = after.chars();
            }
            'p' | 'P' => self.property(next == 'P'),
            'G' | 'X' | 'k' | 'N' => {
                return Err(Refused::Unsupported("\\G, \\X, \\N and back references are not supported"));
            }
            'A' | 'b' | 'B' | 'z' | 't' | 'n' | 'r' | 'f' | 'a' | 'x' | 'u' => {
                self.out.push('\\');
                self.out.push(next);
            }
            '1'..='9' => return Err(Refused::Unsupported("back references are not supported")),
            other if other.is_ascii_alphabetic() => return Err(Refused::Invalid),
            other => self.out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
        Ok(())
    }

    fn octal(&mut self) -> std::result::Result<(), Refused> {
        let rest = self.rest.as_str();
        let limit = if rest.starts_with(['0', '1', '2', '3']) { 3 } else { 2 };
        let digits = rest.bytes().take(limit).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let value = u32::from_str_radix(&rest[..digits], 8).map_err(|_| Refused::Invalid)?;
        self.out.push_str(&format!("\\x{{{value:X}}}"));
        self.rest = rest[digits..].chars();
        Ok(())
    }

    /// `\p{Upper}`: Java's ASCII classes by their characters, the others as the crate knows them.
    fn property(&mut self, negated: bool) {
        let rest = self.rest.as_str();
        let known = rest.strip_prefix('{').and_then(|inside| inside.split_once('}')).and_then(|(name, after)| {
            let (_, members) = ASCII_CLASSES.iter().find(|(known, _)| *known == name)?;
            Some((*members, after))
        });
        if let Some((members, after)) = known {
            self.set(members, negated);
            self.rest = after.chars();
            return;
        }
        self.out.push_str(if negated { "\\P" } else { "\\p" });
        // `\p{IsAlphabetic}` and `\p{InGreek}` have a prefix here.
        if let Some(name) = rest.strip_prefix("{Is") {
            self.out.push('{');
            self.rest = name.chars();
        }
    }
}
