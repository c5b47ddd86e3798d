//! Faker expressions: text with `#{Name.fullName}` parts, compiled once and drawn row by row.

use super::draw::Draw;
use crate::codes;
use base::nearest::nearest;
use base::{Error, Result};
use fake::Fake;
use fake::faker::{address, company, finance, internet, job, lorem, name, phone_number};
use fake::faker::{barcode, creditcard, currency, filesystem};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::fmt::Write;

/// How often `*` and `+` repeat at most.
const REPEATS_MAX: u32 = 10;
/// A class larger than this is drawn from its printable ASCII characters: `.` and `\w` mean those.
const CLASS_MAX: u32 = 256;

/// A compiled expression.
#[derive(Debug, Clone)]
pub(super) struct Expression(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Literal(String),
    Named(Named),
    /// `regexify`.
    Pattern(Box<Hir>),
    /// `Number.numberBetween`.
    Between(i64, i64),
    /// `Options.option`.
    OneOf(Vec<String>),
}

type Named = fn(&mut Draw, &mut String);

macro_rules! faker {
    ($($module:ident :: $name:ident ( $($argument:expr),* )),+ $(,)?) => {
        |draw, out| {
            let mut first = true;
            $(
                if !std::mem::take(&mut first) {
                    out.push(' ');
                }
                let text: String = $module::en::$name($($argument),*).fake_with_rng(draw);
                out.push_str(&text);
            )+
        }
    };
}

/// Expressions without arguments. Names are compared without letter case and underscores.
const NAMED: &[(&str, Named)] = &[
    ("Name.fullName", faker!(name::FirstName(), name::LastName())),
    ("Name.name", faker!(name::Name())),
    ("Name.firstName", faker!(name::FirstName())),
    ("Name.lastName", faker!(name::LastName())),
    ("Name.nameWithMiddle", faker!(name::FirstName(), name::FirstName(), name::LastName())),
    ("Name.prefix", faker!(name::Title())),
    ("Name.suffix", faker!(name::Suffix())),
    ("Name.title", faker!(job::Title())),
    ("Name.username", faker!(internet::Username())),
    ("Address.city", |draw, out| city(draw, out)),
    ("Address.cityName", |draw, out| city(draw, out)),
    ("Address.country", faker!(address::CountryName())),
    ("Address.countryCode", faker!(address::CountryCode())),
    ("Address.state", faker!(address::StateName())),
    ("Address.stateAbbr", faker!(address::StateAbbr())),
    ("Address.streetName", faker!(address::StreetName())),
    ("Address.streetAddress", faker!(address::BuildingNumber(), address::StreetName())),
    ("Address.buildingNumber", faker!(address::BuildingNumber())),
    ("Address.secondaryAddress", faker!(address::SecondaryAddress())),
    ("Address.zipCode", faker!(address::ZipCode())),
    ("Address.postcode", faker!(address::PostCode())),
    ("Address.timeZone", faker!(address::TimeZone())),
    ("Address.latitude", |draw, out| show(out, format_args!("{:.6}", draw.real(-90.0, 90.0)))),
    ("Address.longitude", |draw, out| show(out, format_args!("{:.6}", draw.real(-180.0, 180.0)))),
    ("Internet.ipV4Address", faker!(internet::IPv4())),
    ("Internet.publicIpV4Address", faker!(internet::IPv4())),
    ("Internet.ipV6Address", faker!(internet::IPv6())),
    ("Internet.macAddress", faker!(internet::MACAddress())),
    ("Internet.emailAddress", faker!(internet::FreeEmail())),
    ("Internet.safeEmailAddress", faker!(internet::SafeEmail())),
    ("Internet.userAgent", faker!(internet::UserAgent())),
    ("Internet.userAgentAny", faker!(internet::UserAgent())),
    ("Internet.domainSuffix", faker!(internet::DomainSuffix())),
    ("Internet.domainName", |draw, out| domain(draw, out)),
    ("Internet.url", |draw, out| {
        out.push_str("www.");
        domain(draw, out);
    }),
    ("Internet.uuid", |draw, out| uuid(draw, out)),
    ("Internet.password", faker!(internet::Password(8..17))),
    ("Company.name", faker!(company::CompanyName())),
    ("Company.industry", faker!(company::Industry())),
    ("Company.profession", faker!(company::Profession())),
    ("Company.buzzword", faker!(company::Buzzword())),
    ("Company.catchPhrase", faker!(company::CatchPhrase())),
    ("Job.title", faker!(job::Title())),
    ("Job.field", faker!(job::Field())),
    ("Job.position", faker!(job::Position())),
    ("Job.seniority", faker!(job::Seniority())),
    ("Lorem.word", faker!(lorem::Word())),
    ("Lorem.sentence", faker!(lorem::Sentence(4..11))),
    ("Lorem.paragraph", faker!(lorem::Paragraph(3..6))),
    ("PhoneNumber.phoneNumber", faker!(phone_number::PhoneNumber())),
    ("PhoneNumber.cellPhone", faker!(phone_number::CellNumber())),
    ("Color.name", |draw, out| out.push_str(COLORS[draw.below(COLORS.len() as u64) as usize])),
    ("Color.hex", |draw, out| show(out, format_args!("#{:06X}", draw.below(1 << 24)))),
    ("Finance.creditCard", faker!(creditcard::CreditCardNumber())),
    ("Finance.bic", faker!(finance::Bic())),
    ("Business.creditCardNumber", faker!(creditcard::CreditCardNumber())),
    ("Currency.code", faker!(currency::CurrencyCode())),
    ("Currency.name", faker!(currency::CurrencyName())),
    ("Code.isbn10", faker!(barcode::Isbn10())),
    ("Code.isbn13", faker!(barcode::Isbn13())),
    ("File.fileName", faker!(filesystem::FileName())),
    ("File.extension", faker!(filesystem::FileExtension())),
    ("File.mimeType", faker!(filesystem::MimeType())),
    ("Number.randomDigit", |draw, out| show(out, draw.below(10))),
    ("Number.digit", |draw, out| show(out, draw.below(10))),
    ("Bool.bool", |draw, out| out.push_str(if draw.below(2) == 1 { "true" } else { "false" })),
];
const COLORS: [&str; 12] =
    ["red", "orange", "yellow", "green", "cyan", "blue", "purple", "magenta", "brown", "black", "white", "gray"];
/// Expressions with arguments, for messages.
const WITH_ARGUMENTS: [&str; 3] = ["regexify", "Number.numberBetween", "Options.option"];

fn show(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

fn city(draw: &mut Draw, out: &mut String) {
    let text: String = address::en::CityName().fake_with_rng(draw);
    out.push_str(&text);
}

fn domain(draw: &mut Draw, out: &mut String) {
    let word: String = lorem::en::Word().fake_with_rng(draw);
    let suffix: String = internet::en::DomainSuffix().fake_with_rng(draw);
    show(out, format_args!("{word}.{suffix}"));
}

fn uuid(draw: &mut Draw, out: &mut String) {
    let bits = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
    // Version 4, variant 1.
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let _ = write!(out, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
}

impl Expression {
    /// Compiles the text of option `key`.
    ///
    /// # Errors
    /// An unknown expression, with the nearest known one.
    pub fn compile(key: &str, text: &str) -> Result<Expression> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find("#{") {
            if open > 0 {
                parts.push(Part::Literal(rest[..open].to_string()));
            }
            let body = &rest[open + 2..];
            let close = closing(body).ok_or_else(|| refuse(key, &rest[open..], "the closing } is missing"))?;
            parts.push(part(key, body[..close].trim())?);
            rest = &body[close + 1..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Literal(rest.to_string()));
        }
        Ok(Expression(parts))
    }

    /// Appends a value.
    pub fn push(&self, draw: &mut Draw, out: &mut String) {
        for part in &self.0 {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Named(make) => make(draw, out),
                Part::Pattern(hir) => push_match(hir, draw, out),
                Part::Between(min, max) => show(out, draw.integer(*min, *max)),
                Part::OneOf(options) => out.push_str(&options[draw.below(options.len() as u64) as usize]),
            }
        }
    }
}

/// The place of the `}` that ends an expression: not one inside quotes.
fn closing(body: &str) -> Option<usize> {
    let mut quoted = false;
    body.char_indices().find_map(|(at, c)| {
        quoted ^= c == '\'';
        (c == '}' && !quoted).then_some(at)
    })
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

fn part(key: &str, body: &str) -> Result<Part> {
    let (name, arguments) = match body.split_once(|c: char| c.is_whitespace() || c == '\'') {
        Some((name, _)) => (name, arguments(&body[name.len()..])),
        None => (body, Some(Vec::new())),
    };
    let arguments =
        arguments.ok_or_else(|| refuse(key, body, "arguments stand in single quotes, with commas between"))?;
    match (plain(name).as_str(), arguments.as_slice()) {
        ("regexify", [pattern]) => regex_syntax::parse(pattern)
            .map(|hir| Part::Pattern(Box::new(hir)))
            .map_err(|cause| refuse(key, body, &format!("the regular expression cannot be read: {cause}"))),
        ("number.numberbetween", [min, max]) => match (min.trim().parse(), max.trim().parse::<i64>()) {
            // As in Java's library the upper bound is left out.
            (Ok(min), Ok(max)) if min < max => Ok(Part::Between(min, max - 1)),
            _ => Err(refuse(key, body, "it takes two whole numbers, the smaller one first")),
        },
        ("options.option", options) if !options.is_empty() => Ok(Part::OneOf(options.to_vec())),
        (wanted, []) => NAMED
            .iter()
            .find(|(known, _)| plain(known) == wanted)
            .map(|(_, make)| Part::Named(*make))
            .ok_or_else(|| refuse(key, body, "this build does not know it")),
        _ => Err(refuse(key, body, "this build does not know it with these arguments")),
    }
}

/// The texts in `'a','b'`; `''` stands for a quote.
fn arguments(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = rest.strip_prefix('\'')?;
        let mut argument = String::new();
        loop {
            let quote = rest.find('\'')?;
            argument.push_str(&rest[..quote]);
            rest = &rest[quote + 1..];
            match rest.strip_prefix('\'') {
                Some(more) => {
                    argument.push('\'');
                    rest = more;
                }
                None => break,
            }
        }
        found.push(argument);
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(found)
}

fn refuse(key: &str, expression: &str, cause: &str) -> Error {
    let names = || NAMED.iter().map(|(name, _)| *name).chain(WITH_ARGUMENTS);
    let name = expression.trim_start_matches("#{").split([' ', '\'', '}']).next().unwrap_or_default();
    let mut near = nearest(name, names());
    if near.is_empty() {
        near = names().collect();
    }
    let near: Vec<String> = near.iter().map(|name| format!("#{{{name}}}")).collect();
    let (expression, near) = (format!("#{{{expression}}}"), near.join(", "));
    Error::new(
        &codes::UNKNOWN_EXPRESSION,
        &[("key", &key), ("expression", &expression), ("cause", &cause), ("nearest", &near)],
    )
}

/// Appends a text that matches the expression.
fn push_match(hir: &Hir, draw: &mut Draw, out: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(pick(class, draw)),
        HirKind::Repetition(repetition) => {
            let max = repetition.max.unwrap_or(repetition.min.saturating_add(REPEATS_MAX));
            let extra = max.saturating_sub(repetition.min);
            let count = repetition.min + draw.below(u64::from(extra) + 1) as u32;
            for _ in 0..count {
                push_match(&repetition.sub, draw, out);
            }
        }
        HirKind::Capture(capture) => push_match(&capture.sub, draw, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| push_match(part, draw, out)),
        HirKind::Alternation(parts) => push_match(&parts[draw.below(parts.len() as u64) as usize], draw, out),
    }
}

fn pick(class: &Class, draw: &mut Draw) -> Option<char> {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    let count = |ranges: &[(u32, u32)]| ranges.iter().map(|(start, end)| end - start + 1).sum::<u32>();
    let printable: Vec<(u32, u32)> = ranges
        .iter()
        .map(|(start, end)| ((*start).max(0x20), (*end).min(0x7e)))
        .filter(|(start, end)| start <= end)
        .collect();
    let ranges = if count(&ranges) > CLASS_MAX && !printable.is_empty() { printable } else { ranges };
    let mut at = draw.below(count(&ranges).into()) as u32;
    for (start, end) in ranges {
        let length = end - start + 1;
        if at < length {
            return char::from_u32(start + at);
        }
        at -= length;
    }
    None
}
