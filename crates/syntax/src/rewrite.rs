//! Changes to the tokens of a statement before parsing: comments leave, hints are set aside, and the few constructs
//! that `sqlparser` has no hook for get a form that it reads.

use crate::dialect::{ALL, SUBQUERY, WITHIN};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::hints::{Hint, LooseHint, LooseHints};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Whitespace};

/// Drops white space and comments. Hints after SELECT stay as the comment that `sqlparser` looks for; others are
/// returned.
pub(crate) fn take_hints(tokens: Vec<TokenWithSpan>) -> Result<(Vec<TokenWithSpan>, LooseHints), SyntaxError> {
    let mut kept: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut loose = Vec::new();
    for token in tokens {
        let Token::Whitespace(space) = &token.token else {
            kept.push(token);
            continue;
        };
        let Whitespace::MultiLineComment(comment) = space else { continue };
        let Some(text) = comment.strip_prefix('+') else { continue };
        if Hint::parse_list(text).is_none() {
            let kind = SyntaxErrorKind::InvalidHint { hint: format!("/*+ {} */", text.trim()) };
            return Err(SyntaxError::new(kind, token.span.start));
        }
        match kept.last_mut() {
            Some(previous) if is_word(previous, "SELECT") => kept.push(token),
            Some(TokenWithSpan { token: Token::Whitespace(Whitespace::MultiLineComment(earlier)), .. }) => {
                earlier.push_str(&format!(", {text}"));
            }
            previous => {
                let after = previous.map_or(Location::new(0, 0), |previous| previous.span.start);
                loose.push(LooseHint { after, at: token.span.start, text: text.to_string() });
            }
        }
    }
    Ok((kept, LooseHints::new(loose)))
}

/// Gives `WITHIN`, `SKIP TO v`, a subquery before MATCH_RECOGNIZE, `FOR VERSION AS OF`, `UPDATE SET *` and `INSERT *` a form that `sqlparser` reads, and joins the lines
/// of a string.
pub(crate) fn rewrite(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 8);
    // Where WITHIN stood in `out`: its interval follows DEFINE.
    let mut within: Option<usize> = None;
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let made = |made: Token| TokenWithSpan { token: made, span: token.span };
        let next = rest.peek();
        if let Token::SingleQuotedString(text) = &token.token
            && let Some(TokenWithSpan { token: Token::SingleQuotedString(first), span }) = out.last_mut()
            && span.end.line < token.span.start.line
            && next.is_none_or(|next| next.token != Token::Eq)
        {
            // Not before `=`: there the comma between two options is missing.
            first.push_str(text);
            span.end = token.span.end;
            continue;
        }
        if is_word(&token, "FOR") && next.is_some_and(|next| is_word(next, "VERSION")) {
            continue;
        }
        if is_word(&token, "WITHIN") && next.is_some_and(|next| is_word(next, "INTERVAL")) {
            within = Some(out.len());
            continue;
        }
        if is_word(&token, "DEFINE")
            && let Some(start) = within.take()
        {
            let interval: Vec<TokenWithSpan> = out.drain(start..).collect();
            let (name, alias, comma) =
                (made(Token::make_word(WITHIN, None)), made(Token::make_keyword("AS")), made(Token::Comma));
            out.extend([token, name, alias]);
            out.extend(interval);
            out.push(comma);
            continue;
        }
        if is_word(&token, "MATCH_RECOGNIZE") {
            name_subquery(&mut out);
        }
        if matches!(out.as_slice(), [.., skip, to] if is_word(skip, "SKIP") && is_word(to, "TO"))
            && matches!(&token.token, Token::Word(_))
            && !["NEXT", "FIRST", "LAST"].iter().any(|word| is_word(&token, word))
        {
            // `SKIP TO v` is `SKIP TO LAST v`.
            out.push(made(Token::make_keyword("LAST")));
        }
        if token.token == Token::Mul {
            let all = || made(Token::make_word(ALL, None));
            let set = matches!(out.as_slice(), [.., update, set] if is_word(update, "UPDATE") && is_word(set, "SET"));
            let insert =
                matches!(out.as_slice(), [.., then, insert] if is_word(then, "THEN") && is_word(insert, "INSERT"));
            if set {
                out.extend([all(), made(Token::Eq), all()]);
                continue;
            }
            if insert {
                out.extend([made(Token::make_keyword("VALUES")), made(Token::LParen), all(), made(Token::RParen)]);
                continue;
            }
        }
        out.push(token);
    }
    out
}

/// `VALUES 1, 2` with the parentheses that `sqlparser` wants around every row.
pub(crate) fn wrap_rows(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    const ENDS: [&str; 8] = ["UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH", "ON"];
    let is_wrapped = |token: &TokenWithSpan| token.token == Token::LParen || is_word(token, "ROW");
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 4);
    let mut rest = tokens.into_iter().peekable();
    // For every VALUES that is open: how deep it stands, and whether its row gets a parenthesis.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut depth = 0usize;
    while let Some(token) = rest.next() {
        let made = |made: Token| TokenWithSpan { token: made, span: token.span };
        let here = open.last().copied().filter(|(level, _)| *level == depth);
        let closes = matches!(token.token, Token::RParen | Token::RBracket);
        let ends = closes || token.token == Token::SemiColon || ENDS.iter().any(|word| is_word(&token, word));
        if let (Some((_, wraps)), true) = (here, ends || token.token == Token::Comma) {
            if wraps {
                out.push(made(Token::RParen));
            }
            open.pop();
        }
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        let begins = is_word(&token, "VALUES") || (here.is_some() && token.token == Token::Comma);
        let (span, is_last) = (token.span, rest.peek().is_none());
        out.push(token);
        if begins && let Some(next) = rest.peek() {
            let wraps = !is_wrapped(next);
            open.push((depth, wraps));
            if wraps {
                out.push(TokenWithSpan { token: Token::LParen, span: next.span });
            }
        }
        if is_last {
            let unclosed = open.iter().filter(|(level, wraps)| *wraps && *level == 0).count();
            out.extend((0..unclosed).map(|_| TokenWithSpan { token: Token::RParen, span }));
        }
    }
    out
}

/// `(SELECT ..) MATCH_RECOGNIZE`: a subquery at the end of the tokens becomes the argument of a table function, as patterns
/// are only read behind names.
fn name_subquery(out: &mut Vec<TokenWithSpan>) {
    if out.last().is_none_or(|last| last.token != Token::RParen) {
        return;
    }
    let mut depth = 0usize;
    let mut open = None;
    for (place, token) in out.iter().enumerate().rev() {
        match token.token {
            Token::RParen => depth += 1,
            Token::LParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            open = (token.token == Token::LParen).then_some(place);
            break;
        }
    }
    let Some(open) = open else { return };
    let is_query =
        out.get(open + 1).is_some_and(|first| ["SELECT", "WITH", "VALUES"].iter().any(|word| is_word(first, word)));
    if !is_query {
        return;
    }
    let span = out[open].span;
    let made = |token| TokenWithSpan { token, span };
    out.splice(open..open, [made(Token::make_word(SUBQUERY, None)), made(Token::LParen)]);
    out.push(made(Token::RParen));
}

fn is_word(token: &TokenWithSpan, word: &str) -> bool {
    matches!(&token.token, Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word))
}
