//! Standard output of commands that only show something.

use std::io::{ErrorKind, Write};

/// Writes text.
///
/// # Errors
/// Whatever standard output gives.
pub fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Writes text. A reader that has seen enough (`| head`) ends the program quietly: nothing runs yet that could be lost.
pub fn print(text: &str) {
    if let Err(cause) = write(text) {
        if cause.kind() == ErrorKind::BrokenPipe {
            std::process::exit(i32::from(crate::EXIT_OK));
        }
        let error = base::Error::io("write to", "standard output", &cause);
        std::process::exit(i32::from(crate::fail(&error, crate::language::from_environment())));
    }
}

/// Writes a line.
pub fn line(text: &str) {
    print(&format!("{text}\n"));
}
