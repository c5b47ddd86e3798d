//! Errors and warnings: a stable code, who must act, what, where, why and how to fix it, in English and Chinese.
//!
//! Every problem a user can meet is one [`ErrorCode`] constant, placed in the `codes.rs` of the crate that raises it. It
//! holds both languages, so that a message has one home. An [`Error`] is such a code plus arguments for its placeholders
//! and a [`Location`]. Nothing is formatted before it is shown.

use std::fmt;

/// The result type between crates.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who must act on a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// The user's script, options or command line.
    User,
    /// A system outside: a file system, a broker, a database.
    External,
    /// A record that does not fit the table.
    Data,
    /// A bug in Highwater.
    Internal,
}

impl Domain {
    /// The word shown to users and put into JSON.
    pub fn name(self) -> &'static str {
        match self {
            Domain::User => "user",
            Domain::External => "external",
            Domain::Data => "data",
            Domain::Internal => "internal",
        }
    }
}

/// The language of messages: `SET 'highwater.language'`, else the locale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// Parses `en`, `zh` and locale names such as `zh_CN.UTF-8`; `None` for anything else.
    pub fn parse(name: &str) -> Option<Language> {
        let name = name.to_ascii_lowercase();
        if name.starts_with("zh") {
            Some(Language::Chinese)
        } else if name.starts_with("en") || name == "c" || name.starts_with("c.") || name == "posix" {
            Some(Language::English)
        } else {
            None
        }
    }
}

/// The three parts of a message in one language, with `{name}` placeholders. Empty parts are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// What failed: lower case, no full stop.
    pub what: &'static str,
    /// Why it failed.
    pub why: &'static str,
    /// How to fix it; where it helps, SQL that can be pasted.
    pub fix: &'static str,
}

/// One kind of problem: stable code, domain and texts.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// `HW-<area><number>`: area S syntax, P planning, T types and functions, C connectors, F formats, R runtime, X state,
    /// L command line, I internal.
    pub code: &'static str,
    /// Who must act.
    pub domain: Domain,
    /// Whether the same action can succeed later without a change.
    pub retry: bool,
    /// English text.
    pub en: Text,
    /// Chinese text with the same placeholders.
    pub zh: Text,
}

/// Where a problem is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A place in a script. Line and column count from 1; the column counts characters.
    Sql {
        /// Script name as the user gave it.
        script: String,
        /// Line, from 1.
        line: u64,
        /// Column, from 1, in characters.
        column: u64,
        /// The text of that line, when known.
        source_line: Option<String>,
    },
    /// A record: `orders.jsonl` and `line 12`, or a topic and `partition 3 offset 812`.
    Record {
        /// File path or topic.
        resource: String,
        /// Where in it.
        position: String,
    },
    /// A table option.
    Option {
        /// Table name.
        table: String,
        /// Option key.
        key: String,
    },
}

#[derive(Debug, Clone)]
struct Inner {
    code: &'static ErrorCode,
    arguments: Vec<(&'static str, String)>,
    location: Option<Location>,
    /// Further problems of the same statement: all are shown at once.
    others: Vec<Error>,
}

/// A problem: one error or one warning (the caller decides which).
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

impl Error {
    /// A problem of kind `code`; `arguments` fill its placeholders.
    pub fn new(code: &'static ErrorCode, arguments: &[(&'static str, &dyn fmt::Display)]) -> Self {
        let arguments = arguments.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Error(Box::new(Inner { code, arguments, location: None, others: Vec::new() }))
    }

    /// A bug in Highwater: `what` says which invariant did not hold.
    pub fn internal(what: impl fmt::Display) -> Self {
        Error::new(&INTERNAL, &[("what", &what)])
    }

    /// A feature that is not built yet, refused by name.
    pub fn unsupported(feature: impl fmt::Display) -> Self {
        Error::new(&UNSUPPORTED, &[("feature", &feature)])
    }

    /// A failed file or network call, with the path or address it was about.
    pub fn io(action: impl fmt::Display, resource: impl fmt::Display, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let code = match cause.kind() {
            ErrorKind::NotFound => &IO_NOT_FOUND,
            ErrorKind::PermissionDenied => &IO_PERMISSION,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => &IO_FULL,
            _ => &IO,
        };
        Error::new(code, &[("action", &action), ("resource", &resource), ("cause", cause)])
    }

    /// Adds where the problem is; an already known location stays, because the innermost knows best.
    pub fn at(mut self, location: Location) -> Self {
        self.0.location.get_or_insert(location);
        self
    }

    /// Adds an argument that only an outer layer knows; an already known one stays.
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        if !self.0.arguments.iter().any(|(known, _)| *known == name) {
            self.0.arguments.push((name, value.to_string()));
        }
        self
    }

    /// Adds further problems, shown after this one.
    pub fn and(mut self, others: impl IntoIterator<Item = Error>) -> Self {
        self.0.others.extend(others);
        self
    }

    /// Changes this problem and, one by one, the others of the statement.
    pub fn each(mut self, change: &impl Fn(Error) -> Error) -> Self {
        let others = std::mem::take(&mut self.0.others);
        change(self).and(others.into_iter().map(|other| other.each(change)))
    }

    /// All problems as one error, `None` if there are none.
    pub fn all(errors: Vec<Error>) -> Option<Error> {
        let mut errors = errors.into_iter();
        let first = errors.next()?;
        Some(first.and(errors))
    }

    /// The stable code, for example `HW-P003`.
    pub fn code(&self) -> &'static str {
        self.0.code.code
    }

    /// The kind of problem.
    pub fn kind(&self) -> &'static ErrorCode {
        self.0.code
    }

    /// Who must act.
    pub fn domain(&self) -> Domain {
        self.0.code.domain
    }

    /// Whether a retry can help.
    pub fn is_retryable(&self) -> bool {
        self.0.code.retry
    }

    /// Where the problem is, when known.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Further problems reported together with this one.
    pub fn others(&self) -> &[Error] {
        &self.0.others
    }

    /// The value given for a placeholder.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.0.arguments.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// What, why and fix in `language`, placeholders filled.
    pub fn parts(&self, language: Language) -> [String; 3] {
        let text = match language {
            Language::English => &self.0.code.en,
            Language::Chinese => &self.0.code.zh,
        };
        if language == Language::Chinese && self.0.arguments.iter().any(|(name, _)| *name == "action") {
            let mut arguments = self.0.arguments.clone();
            for (_, action) in arguments.iter_mut().filter(|(name, _)| *name == "action") {
                *action = chinese_action(action);
            }
            return [text.what, text.why, text.fix].map(|template| fill(template, &arguments));
        }
        [text.what, text.why, text.fix].map(|template| fill(template, &self.0.arguments))
    }

    /// The full text for people, as `label[code]: what`, the place, why and fix; further problems follow.
    ///
    /// `label` is `error` or `warning`; in Chinese it is translated. The text ends without a line break.
    pub fn render(&self, language: Language, label: Label) -> String {
        let [what, why, fix] = self.parts(language);
        let mut out = format!("{}[{}]: {what}", label.text(language), self.code());
        if let Some(location) = &self.0.location {
            out.push_str(&render_location(location, language));
        }
        let (why_label, fix_label) = match language {
            Language::English => ("why", "fix"),
            Language::Chinese => ("原因", "修复"),
        };
        for (name, body) in [(why_label, why), (fix_label, fix)] {
            if !body.is_empty() {
                let body = body.replace('\n', "\n       ");
                out.push_str(&format!("\n  {name}: {body}"));
            }
        }
        for other in &self.0.others {
            out.push('\n');
            out.push_str(&other.render(language, label));
        }
        out
    }
}

/// What a rendered problem is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The statement or the job fails.
    Error,
    /// The job goes on.
    Warning,
    /// Nothing is wrong, but it may not be what was meant.
    Note,
}

impl Label {
    fn text(self, language: Language) -> &'static str {
        match (self, language) {
            (Label::Error, Language::English) => "error",
            (Label::Warning, Language::English) => "warning",
            (Label::Error, Language::Chinese) => "错误",
            (Label::Warning, Language::Chinese) => "警告",
            (Label::Note, Language::English) => "note",
            (Label::Note, Language::Chinese) => "提示",
        }
    }
}

fn render_location(location: &Location, language: Language) -> String {
    match location {
        Location::Sql { script, line, column, source_line } => {
            let mut out = format!("\n  --> {script}:{line}:{column}");
            if let Some(text) = source_line {
                let number = line.to_string();
                let pad = " ".repeat(number.len());
                // Tabs are kept so that the caret stands under the right character.
                let before: String = text
                    .chars()
                    .take(column.saturating_sub(1) as usize)
                    .map(|c| match c {
                        '\t' => '\t',
                        c if c.is_ascii() => ' ',
                        _ => '\u{3000}',
                    })
                    .collect();
                out.push_str(&format!("\n {pad} |\n {number} | {text}\n {pad} | {before}^"));
            }
            out
        }
        Location::Record { resource, position } => format!("\n  --> {resource}: {position}"),
        Location::Option { table, key } => match language {
            Language::English => format!("\n  --> table {table}, option '{key}'"),
            Language::Chinese => format!("\n  --> 表 {table}，选项 '{key}'"),
        },
    }
}

/// Replaces `{name}` by its argument. An unknown placeholder stays visible, which a test of the catalogue forbids.
/// The verb of [`Error::io`] in Chinese; one that is not known stays as it is, between spaces.
fn chinese_action(action: &str) -> String {
    let chinese = match action {
        "read" => "读取",
        "write" | "write to" => "写入",
        "create" => "创建",
        "remove" => "删除",
        "rename" => "重命名",
        "use" => "使用",
        "start" => "启动",
        "lock" => "锁定",
        "listen on" => "监听",
        "save the demo to" => "保存演示到",
        other => return format!(" {other}"),
    };
    chinese.to_string()
}

fn fill(template: &str, arguments: &[(&'static str, String)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(close) = rest.find('}') else { break };
        let name = &rest[1..close];
        match arguments.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(&rest[..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Language::English, Label::Error))
    }
}

impl std::error::Error for Error {}

impl From<arrow::error::ArrowError> for Error {
    /// Arrow kernels are only called on checked input, so their errors are bugs of ours unless a caller says otherwise.
    fn from(error: arrow::error::ArrowError) -> Self {
        Error::internal(error)
    }
}

/// A broken invariant.
pub const INTERNAL: ErrorCode = ErrorCode {
    code: "HW-I001",
    domain: Domain::Internal,
    retry: false,
    en: Text {
        what: "internal error: {what}",
        why: "this is a bug in Highwater, not in your script",
        fix: "report it with the script and this message",
    },
    zh: Text {
        what: "内部错误：{what}",
        why: "这是 Highwater 自身的缺陷，不是脚本的问题",
        fix: "请附上脚本和这条消息报告该问题",
    },
};

/// A feature that this version lacks.
pub const UNSUPPORTED: ErrorCode = ErrorCode {
    code: "HW-I002",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "this version does not support {feature} yet",
        why: "",
        fix: "write it another way, or leave it out; docs/sql.md tells what this version has",
    },
    zh: Text {
        what: "当前版本尚不支持 {feature}",
        why: "",
        fix: "请换一种写法或去掉该用法；当前版本支持的内容见 docs/sql.md",
    },
};

/// A file or address that is not there.
pub const IO_NOT_FOUND: ErrorCode = ErrorCode {
    code: "HW-I010",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "could not {action} {resource}: it does not exist",
        why: "{cause}",
        fix: "check the path; a relative path starts at the folder where highwater was started",
    },
    zh: Text {
        what: "无法{action} {resource}：不存在",
        why: "{cause}",
        fix: "请检查路径；相对路径从启动 highwater 的目录算起",
    },
};

/// A file that may not be read or written.
pub const IO_PERMISSION: ErrorCode = ErrorCode {
    code: "HW-I011",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "could not {action} {resource}: permission denied",
        why: "{cause}",
        fix: "give the user that runs highwater access to it",
    },
    zh: Text {
        what: "无法{action} {resource}：没有权限", why: "{cause}", fix: "请为运行 highwater 的用户授权"
    },
};

/// A full disk.
pub const IO_FULL: ErrorCode = ErrorCode {
    code: "HW-I012",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "could not {action} {resource}: no space left",
        why: "{cause}",
        fix: "free some space and run the job again; nothing uncommitted is visible to readers",
    },
    zh: Text {
        what: "无法{action} {resource}：磁盘空间不足",
        why: "{cause}",
        fix: "请释放空间后重新运行；未提交的数据对读者不可见",
    },
};

/// Any other failed call.
pub const IO: ErrorCode = ErrorCode {
    code: "HW-I013",
    domain: Domain::External,
    retry: true,
    en: Text { what: "could not {action} {resource}", why: "{cause}", fix: "" },
    zh: Text { what: "无法{action} {resource}", why: "{cause}", fix: "" },
};

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
