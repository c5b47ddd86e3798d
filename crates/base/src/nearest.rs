//! The nearest of some names to a mistyped one, for "did you mean".

/// Names most like `wanted`, best first, at most three; empty if none is similar.
///
/// A name that differs only in letter case or in `_`, `-`, `.` comes first; then names within an edit distance of a
/// third of the length; then names that contain the wanted one or are contained in it.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', '.'], "");
    let target = plain(wanted);
    let bound = (target.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let candidate = plain(name);
            let distance = edit_distance(&target, &candidate);
            if distance <= bound {
                return Some((distance, name));
            }
            let inside = target.len() >= 3 && candidate.contains(&target);
            let around = candidate.len() >= 3 && target.contains(&candidate);
            (inside || around).then_some((bound + 1, name))
        })
        .collect();
    found.sort();
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
