//! Programs that another program runs: the first line of a script (`execve(2)`, "Interpreter scripts").

use askr_abi::Errno;

/// Bytes at the start of a file in which the line has to end.
pub const LINE_MAX: usize = 255;
/// How often an interpreter may be a script itself.
pub const DEPTH_MAX: usize = 5;

/// Who runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter<'a> {
    /// Path of the program.
    pub path: &'a [u8],
    /// Its first argument: all the rest of the line.
    pub argument: Option<&'a [u8]>,
}

/// The interpreter of the file that begins with `head`; `None` if it is no script.
///
/// # Errors
/// ENOEXEC if the line names no program, or does not end in time.
pub fn interpreter(head: &[u8]) -> Result<Option<Interpreter<'_>>, Errno> {
    let Some(rest) = head.strip_prefix(b"#!") else { return Ok(None) };
    let within = &rest[..rest.len().min(LINE_MAX - 2)];
    let end = within.iter().position(|&byte| byte == b'\n');
    // A file may end without a newline; a line may not go on.
    let line = match end {
        Some(end) => &within[..end],
        None if head.len() <= LINE_MAX => within,
        None => return Err(Errno::ENOEXEC),
    };
    let line = trim(line);
    let name_end = line.iter().position(is_blank).unwrap_or(line.len());
    let (path, argument) = line.split_at(name_end);
    let argument = trim(argument);
    if path.is_empty() || line.contains(&0) {
        return Err(Errno::ENOEXEC);
    }
    Ok(Some(Interpreter { path, argument: (!argument.is_empty()).then_some(argument) }))
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}
