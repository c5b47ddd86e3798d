//! The clauses of the SQL/JSON functions, which reach them as one constant text:
//! `RETURNING INT DEFAULT 0 ON EMPTY ERROR ON ERROR`, `WITH CONDITIONAL WRAPPER`, `ABSENT ON NULL`.

use base::SqlType;

/// What happens when there is no value or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Behaviour {
    Null,
    Error,
    Default(String),
    EmptyArray,
    EmptyObject,
    True,
    False,
    Unknown,
}

/// Whether JSON_QUERY wraps its result into an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapper {
    Without,
    Conditional,
    Unconditional,
}

/// All clauses; what is not said is `None`.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    pub(super) returning: Option<SqlType>,
    pub(super) on_empty: Option<Behaviour>,
    pub(super) on_error: Option<Behaviour>,
    pub(super) wrapper: Wrapper,
    /// NULL ON NULL or ABSENT ON NULL.
    pub(super) absent_on_null: Option<bool>,
    /// The arguments that are JSON text, by position.
    pub(super) json_arguments: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(known) if known.eq_ignore_ascii_case(word))
    }

    fn text(&self) -> &str {
        let (Token::Word(text) | Token::Text(text)) = self;
        text
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        if c == '\'' {
            let mut value = String::new();
            while let Some(c) = chars.next() {
                if c == '\'' && chars.next_if_eq(&'\'').is_none() {
                    break;
                }
                value.push(c);
            }
            out.push(Token::Text(value));
            continue;
        }
        let mut word = c.to_string();
        let mut depth = i32::from(c == '<' || c == '(');
        while let Some(next) = chars.next_if(|next| depth > 0 || !next.is_whitespace() && *next != '\'') {
            depth += i32::from(matches!(next, '<' | '(')) - i32::from(matches!(next, '>' | ')'));
            word.push(next);
        }
        out.push(Token::Word(word));
    }
    out
}

/// Whether a word is a number or a truth value.
fn is_constant(word: &str) -> bool {
    word.parse::<f64>().is_ok() || word.eq_ignore_ascii_case("TRUE") || word.eq_ignore_ascii_case("FALSE")
}

impl Clause {
    /// The error is the reason.
    pub fn parse(text: &str) -> Result<Clause, String> {
        let mut clause = Clause {
            returning: None,
            on_empty: None,
            on_error: None,
            wrapper: Wrapper::Without,
            absent_on_null: None,
            json_arguments: Vec::new(),
        };
        let tokens = tokens(text);
        let mut at = 0;
        while at < tokens.len() {
            at = clause.part(&tokens, at)?;
        }
        Ok(clause)
    }

    fn part(&mut self, tokens: &[Token], at: usize) -> Result<usize, String> {
        let is = |offset: usize, word: &str| tokens.get(at + offset).is_some_and(|token| token.is(word));
        let wrong = || {
            let text: Vec<&str> = tokens[at..].iter().map(Token::text).collect();
            format!("cannot read the clause '{}': only constants can stand behind DEFAULT", text.join(" "))
        };
        if is(0, "RETURNING") {
            return self.returning(tokens, at + 1);
        }
        if is(0, "FORMAT") && is(1, "JSON") {
            let indexes = tokens[at + 2..].iter().map_while(|token| match token {
                Token::Word(word) => word.parse().ok(),
                Token::Text(_) => None,
            });
            self.json_arguments = indexes.collect();
            return Ok(at + 2 + self.json_arguments.len());
        }
        if is(0, "WITH") || is(0, "WITHOUT") {
            let conditional = is(1, "CONDITIONAL");
            self.wrapper = match (is(0, "WITH"), conditional) {
                (false, _) => Wrapper::Without,
                (true, true) => Wrapper::Conditional,
                (true, false) => Wrapper::Unconditional,
            };
            let end = tokens[at..].iter().position(|token| token.is("WRAPPER")).ok_or_else(wrong)?;
            return Ok(at + end + 1);
        }
        let (behaviour, used) = self.behaviour(tokens, at).ok_or_else(wrong)?;
        let place = tokens.get(at + used + 1).filter(|_| is(used, "ON")).ok_or_else(wrong)?;
        if place.is("EMPTY") {
            self.on_empty = Some(behaviour);
        } else if place.is("ERROR") {
            self.on_error = Some(behaviour);
        } else if place.is("NULL") {
            self.absent_on_null = Some(is(0, "ABSENT"));
        } else {
            return Err(wrong());
        }
        Ok(at + used + 2)
    }

    fn behaviour(&self, tokens: &[Token], at: usize) -> Option<(Behaviour, usize)> {
        let first = tokens.get(at)?;
        let second = tokens.get(at + 1);
        Some(match first {
            word if word.is("NULL") || word.is("ABSENT") => (Behaviour::Null, 1),
            word if word.is("ERROR") => (Behaviour::Error, 1),
            word if word.is("TRUE") => (Behaviour::True, 1),
            word if word.is("FALSE") => (Behaviour::False, 1),
            word if word.is("UNKNOWN") => (Behaviour::Unknown, 1),
            word if word.is("EMPTY") && second.is_some_and(|word| word.is("ARRAY")) => (Behaviour::EmptyArray, 2),
            word if word.is("EMPTY") && second.is_some_and(|word| word.is("OBJECT")) => (Behaviour::EmptyObject, 2),
            word if word.is("DEFAULT") => match second? {
                word if word.is("NULL") => (Behaviour::Null, 2),
                // Only constants: any other expression would have to be evaluated for each row.
                Token::Word(text) if !is_constant(text) => return None,
                Token::Word(text) | Token::Text(text) => (Behaviour::Default(text.clone()), 2),
            },
            _ => return None,
        })
    }

    fn returning(&mut self, tokens: &[Token], start: usize) -> Result<usize, String> {
        const NEXT: [&str; 10] =
            ["NULL", "ERROR", "DEFAULT", "EMPTY", "WITH", "WITHOUT", "TRUE", "FALSE", "UNKNOWN", "FORMAT"];
        let mut end = start;
        let mut text = String::new();
        while let Some(Token::Word(word)) = tokens.get(end) {
            // `TIMESTAMP(3) WITH LOCAL TIME ZONE` goes on after WITH.
            let goes_on = word.eq_ignore_ascii_case("WITH")
                && tokens.get(end + 1).is_some_and(|token| token.is("LOCAL") || token.is("TIME"));
            if !goes_on && NEXT.iter().any(|next| word.eq_ignore_ascii_case(next)) {
                break;
            }
            text.push_str(word);
            text.push(' ');
            end += 1;
        }
        let sql_type: SqlType = text.trim().parse().map_err(|_| format!("'{}' is not a type", text.trim()))?;
        self.returning = Some(sql_type.with_nullable(true));
        Ok(end)
    }
}
