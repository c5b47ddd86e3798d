//! How `sqlparser` reads Flink's queries and expressions, and the markers for what its trees cannot say.
//!
//! A marker is a function call whose name starts with `$` and is not quoted, so that no user can write one:
//!
//! | Flink SQL | tree |
//! |---|---|
//! | `TABLE t PARTITION BY a ORDER BY b DESC` as an argument | `$TABLE(t, $PARTITION_BY(a), $ORDER_BY($DESC(b)))` |
//! | `TABLE t /*+ OPTIONS(..) */` as an argument | `$TABLE(t, $HINT('OPTIONS(..)'))` |
//! | `TABLE (SELECT ..)` as an argument | `$TABLE((SELECT ..))` |
//! | `MODEL m` as an argument | `$MODEL(m)` |
//! | type `t` of CAST and TRY_CAST | `DataType::Custom("$FLINK", ["t"])` |
//! | `JSON_VALUE(x, p RETURNING t DEFAULT d ON EMPTY NULL ON ERROR)` | `JSON_VALUE(x, p, $RETURNING('t'), $ON_EMPTY('DEFAULT', d), $ON_ERROR('NULL'))` |
//! | `JSON_QUERY(x, p WITH CONDITIONAL WRAPPER)` | `JSON_QUERY(x, p, $WRAPPER('CONDITIONAL'))` |
//! | `JSON_OBJECT(KEY k VALUE v ABSENT ON NULL)` | `JSON_OBJECT(k, v, $ON_NULL('ABSENT'))` |
//! | `x IS JSON OBJECT` | `IS_JSON_OBJECT(x)` |
//! | `MAP[k, v]` | `MAP(k, v)` |
//! | `UNKNOWN` | `CAST(NULL AS $FLINK('BOOLEAN'))` |
//! | `POSITION(a IN b FROM n)` | `LOCATE(a, b, n)` |
//! | `CASE x WHEN 1, 2 THEN ..` | `CASE WHEN x IN (1, 2) THEN ..` |
//! | `(a - b) DAY TO SECOND` | `$MINUS(a, b, 'DAY TO SECOND')` |
//! | `PATTERN (..) WITHIN INTERVAL '1' HOUR` | a first `DEFINE $WITHIN AS INTERVAL '1' HOUR` |
//! | `(SELECT ..) MATCH_RECOGNIZE (..)` | `$SUBQUERY((SELECT ..)) MATCH_RECOGNIZE (..)` |
//! | `MERGE .. UPDATE SET *`, `INSERT *` | `UPDATE SET $ALL = $ALL`, `INSERT VALUES ($ALL)` |
//! | hint after a table name | string literals in `TableFactor::Table::with_hints`, see [`crate::table_hints`] |

use crate::cursor::{self, eat, expect, is, word};
use crate::types::parse_type;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TrimWhereField, UnaryOperator, Value,
};
use sqlparser::dialect::{Dialect, GenericDialect};
use sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::any::TypeId;
use std::cell::Cell;

/// Name of the marker for a table as a function argument.
pub const TABLE: &str = "$TABLE";
/// Name of the marker for a model as a function argument.
pub const MODEL: &str = "$MODEL";
/// Name of the marker for `PARTITION BY` of a table argument.
pub const PARTITION_BY: &str = "$PARTITION_BY";
/// Name of the marker for `ORDER BY` of a table argument.
pub const ORDER_BY: &str = "$ORDER_BY";
/// Name of the marker for a descending key in [`ORDER_BY`].
pub const DESC: &str = "$DESC";
/// Name of the marker for hints of a table argument.
pub const HINT: &str = "$HINT";
/// Name of the custom data type that carries a Flink type as text.
pub const FLINK_TYPE: &str = "$FLINK";
/// Name of the pattern variable whose definition is the `WITHIN` interval of MATCH_RECOGNIZE.
pub const WITHIN: &str = "$WITHIN";
/// Name of the table function whose argument is the subquery before MATCH_RECOGNIZE.
pub const SUBQUERY: &str = "$SUBQUERY";
/// Name that stands for all columns in `UPDATE SET *` and `INSERT *` of MERGE.
pub const ALL: &str = "$ALL";
/// Name of the marker for `RETURNING` of a JSON function; its argument is the type as text.
pub const RETURNING: &str = "$RETURNING";
/// Name of the marker for `... ON EMPTY`: `'NULL'`, `'ERROR'`, `'EMPTY ARRAY'`, `'EMPTY OBJECT'` or `'DEFAULT'` and a
/// value.
pub const ON_EMPTY: &str = "$ON_EMPTY";
/// Name of the marker for `... ON ERROR`: as [`ON_EMPTY`], and `'TRUE'`, `'FALSE'`, `'UNKNOWN'`.
pub const ON_ERROR: &str = "$ON_ERROR";
/// Name of the marker for `... ON NULL`: `'NULL'` or `'ABSENT'`.
pub const ON_NULL: &str = "$ON_NULL";
/// Name of the marker for the wrapper of JSON_QUERY: `'WITHOUT'`, `'CONDITIONAL'` or `'UNCONDITIONAL'`.
pub const WRAPPER: &str = "$WRAPPER";

/// Name of the marker for a difference of two times as an interval; its last argument is the interval's unit as text.
pub const MINUS: &str = "$MINUS";

/// Expressions that one token may cost while `sqlparser` tries alternatives, and the least budget of a statement.
const STEPS_PER_TOKEN: u64 = 200;
const STEPS_MIN: u64 = 20_000;

/// Longest operand, as text, that BETWEEN SYMMETRIC may repeat: without a bound, nesting doubles the tree each time.
const REPEATED_BYTES_MAX: usize = 1024;

/// `sqlparser`'s binding strength of BETWEEN and of the comparisons.
const BETWEEN_PRECEDENCE: u8 = 20;

/// Binding strength of the unit after `(a - b)`: stronger than any operator.
const UNIT_PRECEDENCE: u8 = 60;

/// The units that may follow `(a - b)`.
const UNITS: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];

/// The dialect. One value serves one statement, because it counts the steps that the parser takes.
#[derive(Debug)]
pub struct FlinkDialect {
    /// `sqlparser` tries alternatives, which takes exponential time on some wrong input. When the steps are used up,
    /// the hooks report the one error that it never swallows.
    steps_left: Cell<u64>,
}

impl FlinkDialect {
    /// A dialect for a statement of this many tokens.
    pub fn new(tokens: usize) -> Self {
        FlinkDialect { steps_left: Cell::new(STEPS_MIN.max(tokens as u64 * STEPS_PER_TOKEN)) }
    }

    /// Whether parsing stopped because it took too many steps.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps_left.get() == 0
    }

    fn step(&self) -> Result<(), ParserError> {
        self.steps_left.set(self.steps_left.get().saturating_sub(1));
        if self.is_exhausted() { Err(ParserError::RecursionLimitExceeded) } else { Ok(()) }
    }
}

impl Default for FlinkDialect {
    fn default() -> Self {
        FlinkDialect::new(0)
    }
}

macro_rules! supported {
    ($($feature:ident),* $(,)?) => { $(fn $feature(&self) -> bool { true })* };
}

impl Dialect for FlinkDialect {
    /// UNNEST as a table and a hundred other places ask for the generic dialect by its type.
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        c == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    fn is_identifier_start(&self, c: char) -> bool {
        c.is_alphabetic() || c == '_'
    }

    fn is_identifier_part(&self, c: char) -> bool {
        c.is_alphanumeric() || c == '_' || c == '$'
    }

    supported!(
        supports_unicode_string_literal,
        supports_string_escape_constant,
        supports_left_associative_joins_without_parens,
        supports_match_recognize,
        supports_filter_during_aggregation,
        supports_window_clause_named_window_reference,
        supports_table_versioning,
        supports_comment_optimizer_hint,
        supports_window_function_null_treatment_arg,
        supports_within_after_array_aggregation,
        supports_parens_around_table_factor,
        supports_values_as_table_factor,
        supports_named_fn_args_with_rarrow_operator,
    );

    /// `SELECT 1 ON CONFLICT ..` has no alias.
    fn is_column_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        *keyword != Keyword::ON && !RESERVED_FOR_COLUMN_ALIAS.contains(keyword)
    }

    /// After these words `sqlparser` would otherwise try the word as a name, and report that error instead of the real
    /// one.
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        use Keyword::*;
        RESERVED_FOR_IDENTIFIER.contains(&keyword)
            || matches!(
                keyword,
                CASE | NOT | INTERVAL | EXISTS | EXTRACT | CEIL | FLOOR | SUBSTRING | TRIM | OVERLAY | ARRAY
            )
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        // `:` is no operator: it stands in JSON_OBJECT('key' : value) only.
        if parser.peek_token_ref().token == Token::Colon {
            return Some(Ok(0));
        }
        let unit = parser.get_current_token().token == Token::RParen && UNITS.iter().any(|unit| is(parser, 0, unit));
        unit.then_some(Ok(UNIT_PRECEDENCE))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        self.step().and_then(|()| prefix(parser)).transpose()
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        self.step().and_then(|()| infix(parser, left)).transpose()
    }
}

/// A plain call of a function.
pub fn function_call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(function(name, arguments))
}

fn function(name: &str, arguments: Vec<Expr>) -> Function {
    Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// A string literal.
pub fn string_literal(text: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.into()).into())
}

/// The arguments of a marker call with this name; `None` for any other expression.
pub fn marker_arguments<'e>(expression: &'e Expr, name: &str) -> Option<Vec<&'e Expr>> {
    let Expr::Function(function) = expression else { return None };
    let [part] = function.name.0.as_slice() else { return None };
    let ident = part.as_ident()?;
    if ident.quote_style.is_some() || ident.value != name {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    let expression = |argument: &'e FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    };
    list.args.iter().map(expression).collect()
}

type Hook = Result<Option<Expr>, ParserError>;

/// The word after `TRIM(`.
fn trim_place(parser: &Parser) -> Option<TrimWhereField> {
    match word(parser, 2)?.as_str() {
        "BOTH" => Some(TrimWhereField::Both),
        "LEADING" => Some(TrimWhereField::Leading),
        "TRAILING" => Some(TrimWhereField::Trailing),
        _ => None,
    }
}

/// Expressions that begin with a word of Flink's own.
fn prefix(parser: &mut Parser) -> Hook {
    let Some(first) = word(parser, 0) else { return empty_set(parser) };
    let next = &parser.peek_nth_token_ref(1).token;
    let parenthesis = *next == Token::LParen;
    match first.as_str() {
        "TABLE" if parenthesis || matches!(next, Token::Word(_)) => table_argument(parser).map(Some),
        "MODEL" if matches!(next, Token::Word(_)) && !is(parser, 1, "FROM") && !is(parser, 1, "AS") => {
            parser.advance_token();
            Ok(Some(function_call(MODEL, vec![name(parser)?])))
        }
        "CAST" | "TRY_CAST" if parenthesis => {
            parser.advance_token();
            parser.advance_token();
            let operand = parser.parse_expr()?;
            expect(parser, &["AS"])?;
            let data_type = parse_type(parser)?.to_ast();
            parser.expect_token(&Token::RParen)?;
            let kind = if first == "CAST" { CastKind::Cast } else { CastKind::TryCast };
            Ok(Some(Expr::Cast { kind, expr: Box::new(operand), data_type, array: false, format: None }))
        }
        // `TRIM(BOTH FROM x)`: spaces, which sqlparser wants to be written.
        "TRIM" if parenthesis && is(parser, 3, "FROM") => {
            let Some(place) = trim_place(parser) else { return Ok(None) };
            (0..4).for_each(|_| parser.advance_token());
            let operand = Box::new(parser.parse_expr()?);
            parser.expect_token(&Token::RParen)?;
            Ok(Some(Expr::Trim { expr: operand, trim_where: Some(place), trim_what: None, trim_characters: None }))
        }
        "INTERVAL" if !is(parser, 1, "INTERVAL") => match next {
            // Taken here, because sqlparser reads an interval twice: as a typed literal first, then as a keyword.
            Token::SingleQuotedString(_) | Token::Number(..) | Token::Minus | Token::Plus | Token::LParen => {
                parser.advance_token();
                parser.parse_interval().map(Some)
            }
            _ => Ok(None),
        },
        "INTERVAL" => parser.expected("an interval", parser.peek_nth_token(1)),
        "MAP" | "MULTISET" if *next == Token::LBracket => {
            parser.advance_token();
            parser.advance_token();
            let elements = if parser.peek_token_ref().token == Token::RBracket {
                Vec::new()
            } else {
                parser.parse_comma_separated(Parser::parse_expr)?
            };
            parser.expect_token(&Token::RBracket)?;
            Ok(Some(function_call(&first, elements)))
        }
        "UNKNOWN" if !parenthesis && *next != Token::Period => {
            parser.advance_token();
            let boolean = vec!["BOOLEAN".to_string()];
            let data_type = DataType::Custom(ObjectName::from(vec![Ident::new(FLINK_TYPE)]), boolean);
            let null = Box::new(Expr::Value(Value::Null.into()));
            Ok(Some(Expr::Cast { kind: CastKind::Cast, expr: null, data_type, array: false, format: None }))
        }
        "GROUPING" if is(parser, 1, "SETS") => {
            parser.advance_token();
            grouping(parser).map(|sets| Some(Expr::GroupingSets(sets)))
        }
        "CUBE" if parenthesis => grouping(parser).map(|sets| Some(Expr::Cube(sets))),
        "ROLLUP" if parenthesis => grouping(parser).map(|sets| Some(Expr::Rollup(sets))),
        "POSITION" if parenthesis => parser.maybe_parse(position),
        "CASE" if !is(parser, 1, "WHEN") => simple_case(parser).map(Some),
        "JSON_VALUE" | "JSON_QUERY" | "JSON_EXISTS" if parenthesis => json_path_function(parser, &first).map(Some),
        "JSON_OBJECT" | "JSON_OBJECTAGG" | "JSON_ARRAY" | "JSON_ARRAYAGG" if parenthesis => {
            json_constructor(parser, &first).map(Some)
        }
        _ => Ok(None),
    }
}

/// `()`, the grouping set without columns.
fn empty_set(parser: &mut Parser) -> Hook {
    let is_empty = [Token::LParen, Token::RParen];
    if (0..2).any(|index| parser.peek_nth_token_ref(index).token != is_empty[index]) {
        return Ok(None);
    }
    parser.advance_token();
    parser.advance_token();
    Ok(Some(Expr::Tuple(Vec::new())))
}

/// What stands in parentheses behind GROUPING SETS, CUBE and ROLLUP: columns, or lists of them. sqlparser knows these forms, but
/// wants a list where Flink takes a column too, and none of them inside another.
fn grouping(parser: &mut Parser) -> Result<Vec<Vec<Expr>>, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let sets = parser.parse_comma_separated(|parser| {
        Ok(match parser.parse_expr()? {
            Expr::Tuple(columns) => columns,
            Expr::Nested(column) => vec![*column],
            column => vec![column],
        })
    })?;
    parser.expect_token(&Token::RParen)?;
    Ok(sets)
}

/// `POSITION(a IN b [FROM n])`; counting from the start needs no argument.
fn position(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let wanted = parser.parse_subexpr(BETWEEN_PRECEDENCE)?;
    expect(parser, &["IN"])?;
    let text = parser.parse_expr()?;
    let from = if eat(parser, &["FROM"]) { Some(parser.parse_expr()?) } else { None };
    parser.expect_token(&Token::RParen)?;
    Ok(match from {
        None => Expr::Position { expr: Box::new(wanted), r#in: Box::new(text) },
        Some(from) => function_call("LOCATE", vec![wanted, text, from]),
    })
}

/// `CASE x WHEN a THEN .. WHEN b, c THEN ..`. A list makes it `CASE WHEN x = a THEN .. WHEN x IN (b, c) THEN ..`.
fn simple_case(parser: &mut Parser) -> Result<Expr, ParserError> {
    let case_token = parser.next_token();
    let start = parser.peek_token();
    let operand = parser.parse_expr()?;
    let mut branches: Vec<(Vec<Expr>, Expr)> = Vec::new();
    loop {
        if branches.is_empty() {
            expect(parser, &["WHEN"])?;
        } else if !eat(parser, &["WHEN"]) {
            break;
        }
        let values = parser.parse_comma_separated(Parser::parse_expr)?;
        expect(parser, &["THEN"])?;
        branches.push((values, parser.parse_expr()?));
    }
    let else_result = if eat(parser, &["ELSE"]) { Some(Box::new(parser.parse_expr()?)) } else { None };
    let end_token = parser.expect_keyword(Keyword::END)?;
    let is_list = branches.iter().any(|(values, _)| values.len() > 1);
    if is_list && operand.to_string().len() > REPEATED_BYTES_MAX {
        return parser.expected("a short operand of CASE with lists", start);
    }
    let condition = |mut values: Vec<Expr>| match (is_list, values.len()) {
        (true, 1) => {
            let (left, right) = (Box::new(operand.clone()), Box::new(values.remove(0)));
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right }
        }
        (true, _) => Expr::InList { expr: Box::new(operand.clone()), list: values, negated: false },
        (false, _) => values.remove(0),
    };
    let conditions =
        branches.into_iter().map(|(values, result)| CaseWhen { condition: condition(values), result }).collect();
    Ok(Expr::Case {
        case_token: case_token.into(),
        end_token: end_token.into(),
        operand: (!is_list).then(|| Box::new(operand)),
        conditions,
        else_result,
    })
}

/// A possibly qualified name as an expression.
fn name(parser: &mut Parser) -> Result<Expr, ParserError> {
    let mut parts = vec![cursor::any_identifier(parser)?];
    while parser.consume_token(&Token::Period) {
        parts.push(cursor::any_identifier(parser)?);
    }
    Ok(Expr::CompoundIdentifier(parts))
}

/// `TABLE t` or `TABLE (query)`, with `PARTITION BY` and `ORDER BY`.
fn table_argument(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    let table = if parser.consume_token(&Token::LParen) {
        let query = parser.parse_query()?;
        parser.expect_token(&Token::RParen)?;
        Expr::Subquery(query)
    } else {
        name(parser)?
    };
    let mut arguments = vec![table];
    if eat(parser, &["PARTITION", "BY"]) {
        arguments.push(function_call(PARTITION_BY, key_list(parser, |parser| parser.parse_expr())?));
    }
    if eat(parser, &["ORDER", "BY"]) {
        let keys = key_list(parser, |parser| {
            let key = parser.parse_order_by_expr()?;
            let descending = key.options.asc == Some(false);
            Ok(if descending { function_call(DESC, vec![key.expr]) } else { key.expr })
        })?;
        arguments.push(function_call(ORDER_BY, keys));
    }
    Ok(function_call(TABLE, arguments))
}

/// One key, or several in parentheses: a list without them would swallow the next argument of the function.
fn key_list(
    parser: &mut Parser,
    mut key: impl FnMut(&mut Parser) -> Result<Expr, ParserError>,
) -> Result<Vec<Expr>, ParserError> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(vec![key(parser)?]);
    }
    let keys = parser.parse_comma_separated(key)?;
    parser.expect_token(&Token::RParen)?;
    Ok(keys)
}

/// `JSON_VALUE`, `JSON_QUERY`, `JSON_EXISTS` with their clauses.
fn json_path_function(parser: &mut Parser, name: &str) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let mut arguments = vec![parser.parse_expr()?];
    parser.expect_token(&Token::Comma)?;
    arguments.push(parser.parse_expr()?);
    while !parser.consume_token(&Token::RParen) {
        arguments.push(json_clause(parser)?);
    }
    Ok(function_call(name, arguments))
}

fn json_clause(parser: &mut Parser) -> Result<Expr, ParserError> {
    if eat(parser, &["RETURNING"]) {
        let type_name = parse_type(parser)?.to_string();
        return Ok(function_call(RETURNING, vec![string_literal(type_name)]));
    }
    const WRAPPERS: [(&[&str], &str); 8] = [
        (&["WITHOUT", "ARRAY", "WRAPPER"], "WITHOUT"),
        (&["WITHOUT", "WRAPPER"], "WITHOUT"),
        (&["WITH", "CONDITIONAL", "ARRAY", "WRAPPER"], "CONDITIONAL"),
        (&["WITH", "CONDITIONAL", "WRAPPER"], "CONDITIONAL"),
        (&["WITH", "UNCONDITIONAL", "ARRAY", "WRAPPER"], "UNCONDITIONAL"),
        (&["WITH", "UNCONDITIONAL", "WRAPPER"], "UNCONDITIONAL"),
        (&["WITH", "ARRAY", "WRAPPER"], "UNCONDITIONAL"),
        (&["WITH", "WRAPPER"], "UNCONDITIONAL"),
    ];
    if let Some((_, wrapper)) = WRAPPERS.iter().find(|(words, _)| eat(parser, words)) {
        return Ok(function_call(WRAPPER, vec![string_literal(*wrapper)]));
    }
    let mut behavior = Vec::new();
    if eat(parser, &["DEFAULT"]) {
        behavior = vec![string_literal("DEFAULT"), parser.parse_expr()?];
    } else {
        const BEHAVIORS: [&[&str]; 8] = [
            &["NULL"],
            &["ERROR"],
            &["EMPTY", "ARRAY"],
            &["EMPTY", "OBJECT"],
            &["EMPTY"],
            &["TRUE"],
            &["FALSE"],
            &["UNKNOWN"],
        ];
        let found = BEHAVIORS.iter().find(|words| eat(parser, words));
        behavior.extend(found.map(|words| string_literal(words.join(" "))));
    }
    if behavior.is_empty() {
        return parser.expected("a clause of the JSON function or )", parser.peek_token());
    }
    match () {
        () if eat(parser, &["ON", "EMPTY"]) => Ok(function_call(ON_EMPTY, behavior)),
        () if eat(parser, &["ON", "ERROR"]) => Ok(function_call(ON_ERROR, behavior)),
        () => parser.expected("ON EMPTY or ON ERROR", parser.peek_token()),
    }
}

/// `JSON_OBJECT(KEY k VALUE v, ...)`, `JSON_ARRAY(v, ...)` and their aggregates.
fn json_constructor(parser: &mut Parser, name: &str) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let mut arguments = Vec::new();
    let mut on_null = None;
    while on_null.is_none() && parser.peek_token_ref().token != Token::RParen {
        on_null = json_on_null(parser);
        if on_null.is_some() {
            break;
        }
        if is(parser, 0, "KEY") && !matches!(parser.peek_nth_token_ref(1).token, Token::Comma | Token::Period) {
            parser.advance_token();
        }
        arguments.push(parser.parse_expr()?);
        if name.starts_with("JSON_OBJECT") {
            if !eat(parser, &["VALUE"]) && !parser.consume_token(&Token::Colon) {
                parser.expect_token(&Token::Comma)?;
            }
            arguments.push(parser.parse_expr()?);
        }
        on_null = json_on_null(parser);
        if on_null.is_none() && !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    arguments.extend(on_null.map(|rule| function_call(ON_NULL, vec![string_literal(rule)])));
    let mut call = function(name, arguments);
    if name.ends_with("AGG") && eat(parser, &["FILTER"]) {
        parser.expect_token(&Token::LParen)?;
        expect(parser, &["WHERE"])?;
        call.filter = Some(Box::new(parser.parse_expr()?));
        parser.expect_token(&Token::RParen)?;
    }
    Ok(Expr::Function(call))
}

fn json_on_null(parser: &mut Parser) -> Option<&'static str> {
    ["NULL", "ABSENT"].into_iter().find(|rule| eat(parser, &[rule, "ON", "NULL"]))
}

/// `IS [NOT] JSON ..`, `IS [NOT] DISTINCT FROM` and `[NOT] BETWEEN [A]SYMMETRIC`.
fn infix(parser: &mut Parser, left: &Expr) -> Hook {
    // Taken here, because sqlparser takes all that follows for the right side, even after AND.
    for (words, negated) in [(&["IS", "DISTINCT", "FROM"][..], false), (&["IS", "NOT", "DISTINCT", "FROM"], true)] {
        if eat(parser, words) {
            let (left, right) = (Box::new(left.clone()), Box::new(parser.parse_subexpr(BETWEEN_PRECEDENCE)?));
            let test = if negated { Expr::IsNotDistinctFrom } else { Expr::IsDistinctFrom };
            return Ok(Some(test(left, right)));
        }
    }
    if is(parser, 0, "IS") && (is(parser, 1, "JSON") || is(parser, 1, "NOT") && is(parser, 2, "JSON")) {
        parser.advance_token();
        let negated = eat(parser, &["NOT"]);
        parser.advance_token();
        let kind = ["VALUE", "OBJECT", "ARRAY", "SCALAR"].into_iter().find(|kind| eat(parser, &[kind]));
        let test = function_call(&format!("IS_JSON_{}", kind.unwrap_or("VALUE")), vec![left.clone()]);
        return Ok(Some(if negated { not(test) } else { test }));
    }
    if UNITS.iter().any(|unit| is(parser, 0, unit)) {
        return interval_difference(parser, left).map(Some);
    }
    let negated = is(parser, 0, "NOT");
    let offset = usize::from(negated);
    let symmetric = is(parser, offset + 1, "SYMMETRIC");
    if is(parser, offset, "BETWEEN") && (symmetric || is(parser, offset + 1, "ASYMMETRIC")) {
        for _ in 0..offset + 2 {
            parser.advance_token();
        }
        let start = parser.peek_token();
        let low = parser.parse_subexpr(BETWEEN_PRECEDENCE)?;
        expect(parser, &["AND"])?;
        let high = parser.parse_subexpr(BETWEEN_PRECEDENCE)?;
        if !symmetric {
            return Ok(Some(between(left, &low, &high, negated)));
        }
        if [left, &low, &high].iter().any(|operand| operand.to_string().len() > REPEATED_BYTES_MAX) {
            return parser.expected("a short operand of BETWEEN SYMMETRIC", start);
        }
        let either = Expr::Nested(Box::new(Expr::BinaryOp {
            left: Box::new(between(left, &low, &high, false)),
            op: BinaryOperator::Or,
            right: Box::new(between(left, &high, &low, false)),
        }));
        return Ok(Some(if negated { not(either) } else { either }));
    }
    Ok(None)
}

/// `(a - b) DAY TO SECOND`
fn interval_difference(parser: &mut Parser, left: &Expr) -> Result<Expr, ParserError> {
    let Expr::Nested(inner) = left else { return parser.expected("an operator", parser.peek_token()) };
    let Expr::BinaryOp { left, op: BinaryOperator::Minus, right } = inner.as_ref() else {
        return parser.expected("an operator", parser.peek_token());
    };
    let unit = |parser: &mut Parser| UNITS.into_iter().find(|unit| eat(parser, &[unit]));
    let mut text = unit(parser).unwrap_or_default().to_string();
    if eat(parser, &["TO"]) {
        let Some(end) = unit(parser) else { return parser.expected("a unit of time", parser.peek_token()) };
        text = format!("{text} TO {end}");
    }
    Ok(function_call(MINUS, vec![left.as_ref().clone(), right.as_ref().clone(), string_literal(text)]))
}

fn not(operand: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(operand) }
}

fn between(operand: &Expr, low: &Expr, high: &Expr, negated: bool) -> Expr {
    Expr::Between { expr: Box::new(operand.clone()), negated, low: Box::new(low.clone()), high: Box::new(high.clone()) }
}
