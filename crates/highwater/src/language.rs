//! The language of messages: `SET 'highwater.language'`, else `HIGHWATER_LANGUAGE`, else the locale.

use base::Language;

/// The language before a script has said anything.
pub fn from_environment() -> Language {
    ["HIGHWATER_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .and_then(|value| Language::parse(&value))
        .unwrap_or_default()
}
