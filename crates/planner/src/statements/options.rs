//! SET and RESET.

use crate::binder::positions::{Positions, locate};
use crate::codes;
use crate::session::{Outcome, Session};
use base::config::{Effect, JobConfig, LANGUAGE, SESSION_OPTIONS, session_option};
use base::nearest::nearest;
use base::options::shown;
use base::{Error, Language, Options, Result};
use syntax::Span;

/// `SET 'key' = 'value'`.
pub fn set(
    session: &mut Session,
    key: &str,
    value: &str,
    (key_span, value_span): (Span, Span),
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let at = |error: Error, span: Span| locate(error, Some(positions), span);
    let Some(option) = session_option(key) else { return Err(at(unknown(key), key_span)) };
    let mut changed = session.options.clone();
    changed.set(key, value);
    let single: Options = [(key.to_string(), value.to_string())].into_iter().collect();
    single
        .validate(&[&option.spec], "the session")
        .and_then(|()| JobConfig::from_options(&changed))
        .map_err(|error| at(error, value_span))?;
    session.options = changed;
    if let Effect::NoEffect { en, zh } = option.effect {
        let language = session.options.get(LANGUAGE.spec.key).and_then(Language::parse).unwrap_or_default();
        let reason = if language == Language::Chinese { zh } else { en };
        warnings.push(at(Error::new(&codes::INERT_OPTION, &[("key", &key), ("reason", &reason)]), key_span));
    }
    Ok(Outcome::Done)
}

fn unknown(key: &str) -> Error {
    let names = SESSION_OPTIONS.iter().map(|option| option.spec.key).filter(|name| !name.ends_with('*'));
    match nearest(key, names).first() {
        Some(near) => Error::new(&codes::UNKNOWN_SESSION_OPTION, &[("key", &key), ("nearest", near)]),
        None => Error::new(&codes::UNKNOWN_SESSION_OPTION_PLAIN, &[("key", &key)]),
    }
}

/// `SET`: the options that are set, secrets masked.
pub fn list(session: &Session) -> Outcome {
    let rows =
        session.options.iter().map(|(key, value)| vec![Some(key.into()), Some(shown(key, value).into())]).collect();
    Outcome::Table { columns: vec!["key".into(), "value".into()], rows }
}

/// `RESET`.
pub fn reset(session: &mut Session, key: Option<&str>) -> Outcome {
    match key {
        Some(key) => {
            session.options.remove(key);
        }
        None => session.options = Options::default(),
    }
    Outcome::Done
}
