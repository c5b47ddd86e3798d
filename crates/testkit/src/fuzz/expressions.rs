//! Random expressions by templates: each has holes of a type, filled with expressions of that type.
//!
//! Besides the templates, every registered function is called with arguments of any type, and the examples of the function
//! page are used with random expressions instead of their constants.

use super::random::Random;
use super::table::COLUMNS;

const TEMPLATES: &str = include_str!("templates.tsv");

/// A type's code, and what can be written for it without a column.
const LEAVES: &[(char, &[&str])] = &[
    ('t', &["CAST(3 AS TINYINT)"]),
    ('i', &["0", "1", "2", "3", "-1", "10", "2147483647"]),
    ('l', &["CAST(5 AS BIGINT)", "9223372036854775807", "1704067200000"]),
    ('d', &["1.5", "0.00", "123456789.123456789", "CAST(NULL AS DECIMAL(10, 2))"]),
    ('f', &["1.5E0", "CAST(0 AS DOUBLE)", "1E300"]),
    ('s', &["''", "'a'", "'abc'", "'中文'", "'1,2'", "'%a_'", "'2024-01-02 03:04:05'", "CAST(NULL AS STRING)"]),
    ('b', &["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"]),
    ('a', &["DATE '2024-01-31'"]),
    ('m', &["TIME '23:59:59'"]),
    ('p', &["TIMESTAMP '2024-02-29 12:00:00'"]),
    ('z', &["TO_TIMESTAMP_LTZ(0, 3)"]),
    ('x', &["x'CAFE'", "x''"]),
    ('A', &["ARRAY[1, 2, 3]"]),
    ('S', &["ARRAY['a', 'b']"]),
    ('M', &["MAP['a', 1]"]),
    ('R', &["ROW(1, 'x')"]),
    ('I', &["INTERVAL '1' SECOND"]),
    ('Y', &["INTERVAL '1' MONTH"]),
];

/// Functions that read the clock or draw numbers, or are not called by name.
const NOT_CALLED: &[&str] = &["ARRAY", "MAP", "ROW", "FIELD", "ITEM"];

/// An expression.
#[derive(Debug, Clone)]
pub struct Node {
    code: char,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Hole(Node),
}

impl Node {
    fn leaf(code: char, text: &str) -> Node {
        Node { code, parts: vec![Part::Text(text.to_string())] }
    }

    /// The expression as SQL.
    pub fn sql(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Hole(node) if node.parts.len() == 1 => out.push_str(&node.sql()),
                Part::Hole(node) => out.push_str(&format!("({})", node.sql())),
            }
        }
        out
    }

    fn size(&self) -> usize {
        self.holes().map(Node::size).sum::<usize>() + self.parts.len()
    }

    fn holes(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(node) => Some(node),
            Part::Text(_) => None,
        })
    }

    /// Expressions that are smaller by one step: a part instead of the whole, or a part replaced by one of its parts or by
    /// a leaf.
    fn smaller_ones(&self) -> Vec<Node> {
        let mut found: Vec<Node> = self.holes().cloned().collect();
        for (index, part) in self.parts.iter().enumerate() {
            let Part::Hole(node) = part else { continue };
            let mut choices = node.smaller_ones();
            if node.parts.len() > 1 {
                choices.extend(leaves(node.code).into_iter().map(|leaf| Node::leaf(node.code, leaf)));
            }
            for choice in choices {
                let mut whole = self.clone();
                whole.parts[index] = Part::Hole(choice);
                found.push(whole);
            }
        }
        found
    }
}

/// A smaller expression that is still interesting.
pub fn smaller(node: Node, tries: usize, is_interesting: impl Fn(&Node) -> bool) -> Node {
    let mut node = node;
    let mut tries = tries;
    'again: loop {
        let mut choices = node.smaller_ones();
        choices.retain(|choice| choice.size() < node.size());
        choices.sort_by_key(Node::size);
        for choice in choices {
            if tries == 0 {
                return node;
            }
            tries -= 1;
            if is_interesting(&choice) {
                node = choice;
                continue 'again;
            }
        }
        return node;
    }
}

/// Columns and constants of a type.
fn leaves(code: char) -> Vec<&'static str> {
    let columns = COLUMNS.iter().filter(|(_, _, known)| *known == code).map(|(name, ..)| *name);
    let constants = LEAVES.iter().filter(|(known, _)| *known == code).flat_map(|(_, texts)| texts.iter().copied());
    columns.chain(constants).collect()
}

/// What expressions are made of.
#[derive(Debug)]
pub struct Grammar {
    templates: Vec<(char, &'static str)>,
    functions: Vec<&'static str>,
    examples: Vec<&'static str>,
}

impl Grammar {
    /// The grammar of this build.
    pub fn new() -> Grammar {
        let templates = TEMPLATES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (code, template) = line.split_once('\t')?;
            Some((code.chars().next()?, template))
        });
        let is_called = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let functions = functions::scalar_names().into_iter().filter(is_called);
        Grammar {
            templates: templates.collect(),
            functions: functions.filter(|name| !NOT_CALLED.contains(name)).collect(),
            examples: crate::docs_functions::examples(),
        }
    }

    /// An expression of any type.
    pub fn any(&self, random: &mut Random, depth: usize) -> Node {
        match random.below(8) {
            0 if depth > 0 => self.call(random, depth),
            1 if depth > 0 && !self.examples.is_empty() => self.example(random, depth),
            _ => self.of(random, '?', depth),
        }
    }

    /// An expression of a type.
    pub fn of(&self, random: &mut Random, code: char, depth: usize) -> Node {
        let code = match code {
            '?' => LEAVES[random.below(LEAVES.len())].0,
            'n' => *random.pick(&['t', 'i', 'l', 'd', 'f']),
            'T' => *random.pick(&['a', 'm', 'p', 'p', 'z']),
            'C' => *random.pick(&['A', 'S', 'M']),
            code => code,
        };
        if depth == 0 || random.once_in(4) {
            let leaves = leaves(code);
            return Node::leaf(code, leaves[random.below(leaves.len())]);
        }
        let fitting: Vec<&str> =
            self.templates.iter().filter(|(known, _)| *known == code).map(|(_, template)| *template).collect();
        let template = random.pick(&fitting);
        let mut parts = Vec::new();
        let mut rest = *template;
        while let Some((before, after)) = rest.split_once('{') {
            parts.push(Part::Text(before.to_string()));
            let mut after = after.chars();
            let hole = after.next().unwrap_or('i');
            rest = after.as_str().strip_prefix('}').unwrap_or(after.as_str());
            parts.push(Part::Hole(self.of(random, hole, depth - 1)));
        }
        parts.push(Part::Text(rest.to_string()));
        Node { code, parts }
    }

    /// Some function with some arguments: most are refused, none may panic.
    fn call(&self, random: &mut Random, depth: usize) -> Node {
        let mut parts = vec![Part::Text(format!("{}(", random.pick(&self.functions)))];
        for index in 0..random.below(5) {
            if index > 0 {
                parts.push(Part::Text(", ".into()));
            }
            parts.push(Part::Hole(self.of(random, '?', depth - 1)));
        }
        parts.push(Part::Text(")".into()));
        Node { code: '?', parts }
    }

    /// An example of the documentation, with some of its constants replaced.
    fn example(&self, random: &mut Random, depth: usize) -> Node {
        let mut parts = Vec::new();
        for token in super::mutate::tokens(self.examples[random.below(self.examples.len())]) {
            let code = match token.as_bytes().first() {
                Some(b'\'') => Some('s'),
                Some(b'0'..=b'9') if token.bytes().all(|b| b.is_ascii_digit()) => Some('i'),
                _ => None,
            };
            match code {
                Some(code) if random.once_in(2) => parts.push(Part::Hole(self.of(random, code, depth - 1))),
                _ => parts.push(Part::Text(token)),
            }
        }
        Node { code: '?', parts }
    }
}
