//! Tables as text: the frame of Flink's SQL client.

use unicode_width::UnicodeWidthStr;

/// A whole table with its frame and a row count, ending with a line break. NULL is shown as `NULL`.
pub fn table(columns: &[String], rows: &[Vec<Option<String>>]) -> String {
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".into());
    let mut widths: Vec<usize> = columns.iter().map(|name| name.width()).collect();
    for row in rows {
        for (width, value) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell(value).width());
        }
    }
    let mut out = String::new();
    frame(&mut out, &widths);
    line(&mut out, &widths, columns.iter().map(String::as_str));
    frame(&mut out, &widths);
    for row in rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        line(&mut out, &widths, cells.iter().map(String::as_str));
    }
    frame(&mut out, &widths);
    out.push_str(&format!("{} row{} in set\n", rows.len(), if rows.len() == 1 { "" } else { "s" }));
    out
}

/// A horizontal line of the frame.
pub fn frame(out: &mut String, widths: &[usize]) {
    for width in widths {
        out.push('+');
        out.extend(std::iter::repeat_n('-', width + 2));
    }
    out.push_str("+\n");
}

/// A row, right-aligned; a cell that is wider than its column keeps its text.
pub fn line<'a>(out: &mut String, widths: &[usize], cells: impl Iterator<Item = &'a str>) {
    for (width, cell) in widths.iter().zip(cells) {
        out.push_str("| ");
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
        out.push_str(cell);
        out.push(' ');
    }
    out.push_str("|\n");
}

/// Rows of text in columns without a frame: two spaces between, numbers and names as they are.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    rows.iter()
        .map(|row| {
            let mut out = String::new();
            for (width, cell) in widths.iter().zip(row) {
                out.push_str(cell);
                out.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
            }
            out.trim_end().to_string()
        })
        .collect()
}
