//! Which text may be shown to people and handed on as it is.

/// Whether a terminal obeys the character instead of showing it, or whether it hides or reorders others: the controls
/// C0, DEL and C1, line and paragraph separators, zero-width characters and those that set the direction of text
/// (Unicode UAX #9).
#[must_use]
pub const fn is_hidden(character: char) -> bool {
    matches!(character, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
