//! The encoder: rows to lines.

use super::options::CsvOptions;
use crate::formats::cells::{Cells, DecimalStyle, Spelling, Style, Values};
use base::format::{Encoder, Records};
use base::{ChangelogBatch, Result};

/// Longer texts are quoted without looking at them.
const CHECKED_CHARACTERS_MAX: usize = 24;

/// Encodes lines. Row kinds are not written.
#[derive(Debug)]
pub struct CsvEncoder {
    options: CsvOptions,
    style: Style,
    /// Characters below this one are quoted.
    safe_from: u8,
    line: String,
    field: String,
}

impl CsvEncoder {
    /// An encoder.
    pub fn new(options: CsvOptions) -> CsvEncoder {
        let decimals = if options.scientific { DecimalStyle::Scientific } else { DecimalStyle::PlainStripped };
        let special = [Some(options.delimiter), options.quote, options.escape, Some(b'\r')];
        let safe_from = special.into_iter().flatten().max().map_or(0, |byte| byte + 1);
        CsvEncoder {
            options,
            style: Style { separator: ' ', decimals },
            safe_from,
            line: String::new(),
            field: String::new(),
        }
    }
}

impl Encoder for CsvEncoder {
    fn encode(&mut self, batch: &ChangelogBatch, out: &mut Records) -> Result<()> {
        let columns = batch.records().columns();
        let cells = columns.iter().map(|column| Cells::new(column.as_ref())).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            self.line.clear();
            for (index, cells) in cells.iter().enumerate() {
                if index > 0 {
                    self.line.push(self.options.delimiter as char);
                }
                self.push_field(cells, row);
            }
            out.push(self.line.as_bytes());
        }
        Ok(())
    }
}

impl CsvEncoder {
    fn push_field(&mut self, cells: &Cells<'_>, row: usize) {
        if cells.is_null(row) {
            self.line.push_str(self.options.null_literal.as_deref().unwrap_or(""));
            return;
        }
        if cells.spelling() == Some(Spelling::Bare) {
            return cells.push(&mut self.line, row, self.style);
        }
        self.field.clear();
        match &cells.values {
            Values::Array(list, elements) => {
                let offsets = list.value_offsets();
                for index in offsets[row]..offsets[row + 1] {
                    self.push_element(elements, index as usize, index > offsets[row]);
                }
            }
            Values::Row(fields) => {
                for (index, field) in fields.iter().enumerate() {
                    self.push_element(field, row, index > 0);
                }
            }
            _ => cells.push(&mut self.field, row, self.style),
        }
        self.push_text();
    }

    fn push_element(&mut self, cells: &Cells<'_>, row: usize, delimited: bool) {
        if delimited {
            self.field.push_str(&self.options.element_delimiter);
        }
        if cells.is_null(row) {
            self.field.push_str(self.options.null_literal.as_deref().unwrap_or(""));
        } else {
            cells.push(&mut self.field, row, self.style);
        }
    }

    /// Appends the field to the line, quoted if it has to be.
    fn push_text(&mut self) {
        let field = &self.field;
        let Some(quote) = self.options.quote else {
            return self.push_escaped(None);
        };
        let long = field.len() > CHECKED_CHARACTERS_MAX && field.encode_utf16().count() > CHECKED_CHARACTERS_MAX;
        if !long && field.bytes().all(|byte| byte >= self.safe_from) {
            return self.line.push_str(field);
        }
        self.line.push(quote as char);
        self.push_escaped(Some(quote));
        self.line.push(quote as char);
    }

    /// Appends the field with its quotes doubled, and what the escape character would change escaped.
    fn push_escaped(&mut self, quote: Option<u8>) {
        let escape = self.options.escape;
        for character in self.field.chars() {
            let is = |byte: Option<u8>| byte.is_some_and(|byte| byte as char == character);
            if is(quote) {
                self.line.push(character);
            } else if is(escape) || (quote.is_none() && escape.is_some() && is(Some(self.options.delimiter))) {
                self.line.push(escape.unwrap_or_default() as char);
            }
            self.line.push(character);
        }
    }
}
