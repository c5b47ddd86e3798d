//! Changing a text at random, token by token, and making a text smaller as long as it stays interesting.

use super::random::Random;

/// Words that change what a statement means.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT 1",
    "OVER (",
    "PARTITION BY",
    "WITH",
    "AS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST(",
    "TRY_CAST(",
    "AS INT)",
    "TABLE(",
    "TUMBLE(",
    "HOP(",
    "DESCRIPTOR(",
    "INTERVAL '1' DAY",
    "UNION ALL",
    "EXCEPT",
    "INTERSECT ALL",
    "LEFT JOIN",
    "CROSS JOIN UNNEST(",
    "LATERAL",
    "ON TRUE",
    "EXISTS (",
    "IN (",
    "NOT",
    "NULL",
    "IS",
    "DISTINCT",
    "FROM VALUES (1)",
    "VALUES (1, 'a')",
    "CREATE",
    "TEMPORARY",
    "TABLE",
    "VIEW",
    "OR REPLACE",
    "IF NOT EXISTS",
    "LIKE",
    "INCLUDING ALL",
    "PARTITIONED BY (",
    "PRIMARY KEY",
    "NOT ENFORCED",
    "METADATA FROM",
    "VIRTUAL",
    "WATERMARK FOR",
    "COMMENT 'c'",
    "INSERT INTO",
    "OVERWRITE",
    "EXECUTE",
    "STATEMENT SET BEGIN",
    "EXPLAIN",
    "CHANGELOG_MODE",
    "DESCRIBE",
    "SHOW",
    "SHOW CREATE TABLE",
    "ALTER TABLE",
    "DROP",
    "USE",
    "SET 'a' = 'b'",
    "RESET",
    "FILTER (WHERE",
    "MATCH_RECOGNIZE (",
    "FOR SYSTEM_TIME AS OF",
    "/*+ OPTIONS('a'='b') */",
    "/*+ STATE_TTL('a'='1d') */",
    "ROW<a INT, b ARRAY<MAP<STRING, ROW<x INT>>>>",
    "DECIMAL(38, 18)",
    "GROUPING SETS ((a), ())",
    "ESCAPE",
    "BETWEEN",
    "AND",
    "OR",
    "SIMILAR TO",
    "EXTRACT(YEAR FROM",
    "FLOOR(",
    "TRIM(BOTH FROM",
    "POSITION('a' IN",
    "AT TIME ZONE",
    "ON CONFLICT DO NOTHING",
];

/// Text that lexers stumble over.
const ODDITIES: &[&str] = &[
    ";",
    ";;",
    "'",
    "''",
    "\"",
    "`",
    "``",
    "--",
    "/*",
    "*/",
    "(",
    ")",
    "((",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">>",
    "<>",
    "!=",
    "=>",
    "->",
    "::",
    "||",
    "&&",
    ".",
    "..",
    ",",
    "?",
    "$1",
    "${X}",
    "@",
    "#",
    "\\",
    "%",
    "^",
    "~",
    ":",
    "U&'\\0041'",
    "x'0G'",
    "x'ab'",
    "e'a'",
    "N'x'",
    "_utf8'x'",
    "0x1F",
    "1e",
    "1e999",
    "1.",
    ".5",
    "1..2",
    "99999999999999999999999999999999999999999999",
    "-9223372036854775808",
    "1L",
    "\u{feff}",
    "\u{3000}",
    "，",
    "；",
    "（",
    "）",
    "。",
    "\u{0}",
    "\r",
    "\r\n",
    "\t",
    "é",
    "e\u{301}",
    "😀",
    "表",
    "\u{202e}",
    "ﬁ",
    "İ",
    "ß",
    "DATE '2024-13-45'",
    "TIMESTAMP '2024'",
    "INTERVAL '9999999999' YEAR",
    "INTERVAL '1-99' YEAR TO MONTH",
    "TIME '25:00:00'",
];

/// A text that is longer is not made longer: a chain of chains of chains has millions of words, and only shows how fast
/// words are read.
const LONG_BYTES: usize = 1 << 18;

/// `text` with one to six changes; other texts give parts.
pub fn mutate(random: &mut Random, text: &str, others: &[String]) -> String {
    let mut tokens: Vec<String> = tokens(text);
    for _ in 0..=random.below(6) {
        if tokens.iter().map(String::len).sum::<usize>() > LONG_BYTES {
            break;
        }
        change(random, &mut tokens, others);
    }
    tokens.concat()
}

fn change(random: &mut Random, tokens: &mut Vec<String>, others: &[String]) {
    let at = random.below(tokens.len() + 1);
    let end = (at + 1 + random.below(6)).min(tokens.len());
    match random.below(14) {
        0 if at < end => drop(tokens.drain(at..end)),
        1 if at < end => {
            let part = tokens[at..end].to_vec();
            tokens.splice(at..at, part);
        }
        2 if tokens.len() > 1 => {
            let other = random.below(tokens.len());
            let at = at.min(tokens.len() - 1);
            tokens.swap(at, other);
        }
        3 | 4 => tokens.insert(at, format!(" {} ", random.pick(WORDS))),
        5 | 6 => tokens.insert(at, random.pick(ODDITIES).to_string()),
        7 if at < end => tokens[at] = random.pick(ODDITIES).to_string(),
        8 => {
            let other = self::tokens(&others[random.below(others.len())]);
            let from = random.below(other.len());
            let until = (from + 1 + random.below(30)).min(other.len());
            tokens.splice(at..at, other[from.min(until)..until].to_vec());
        }
        9 => {
            let (open, close) =
                *random.pick(&[("(", ")"), ("ARRAY[", "]"), ("CASE WHEN TRUE THEN ", " END"), ("NOT ", "")]);
            let most = if random.once_in(10) { 400 } else { 12 };
            let times = 1 + random.below(most);
            tokens.insert(end, close.repeat(times));
            tokens.insert(at, open.repeat(times));
        }
        10 if at < end => {
            let link = random.pick(&[" + ", " OR ", " AND ", " || ", ", ", "."]);
            let most = if random.once_in(10) { 700 } else { 12 };
            let times = 1 + random.below(most);
            let chain = format!("{link}{}", tokens[at]).repeat(times);
            tokens.insert(end, chain);
        }
        11 if at < end => tokens[at] = format!("{}{}", tokens[at], tokens[at]),
        12 if at < end => {
            let upper = random.once_in(2);
            tokens[at] = if upper { tokens[at].to_uppercase() } else { tokens[at].to_lowercase() };
        }
        13 if random.once_in(4) => tokens.truncate(at),
        _ => {
            // A whole token in the middle of a character sequence is too regular: cut one somewhere.
            if let Some(token) = tokens.get_mut(at)
                && let Some((cut, _)) = token.char_indices().nth(random.below(token.chars().count()))
            {
                token.truncate(cut);
            }
        }
    }
}

/// Words, numbers, strings, blanks and single characters; together they are the text.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first.is_ascii_digit() {
            // A number is one token with its fraction, which no other text can stand for.
            rest.find(|c| !(is_word(c) || c == '.')).unwrap_or(rest.len())
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len())
        } else if first == '\'' {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_string());
        rest = &rest[length..];
    }
    tokens
}

/// A smaller text that is still interesting: parts are left out, large ones first.
pub fn smaller(text: String, tries: usize, is_interesting: impl Fn(&str) -> bool) -> String {
    let mut tokens = tokens(&text);
    let mut tries = tries;
    let mut size = (tokens.len() / 2).max(1);
    loop {
        let mut at = 0;
        let before = tokens.len();
        while at < tokens.len() && tries > 0 {
            tries -= 1;
            let end = (at + size).min(tokens.len());
            let candidate = [&tokens[..at], &tokens[end..]].concat();
            if is_interesting(&candidate.concat()) {
                tokens = candidate;
            } else {
                at = end;
            }
        }
        if tries == 0 || size == 1 && tokens.len() == before {
            return tokens.concat();
        }
        size = (size / 2).max(1);
    }
}
