use super::{SyntaxError, Token, tokenize};
use proptest::prelude::*;

/// The words of a line without operators, with `$?` = 7 and `$HOME` = /root.
fn words(line: &str) -> Result<Vec<Vec<u8>>, SyntaxError> {
    let lookup = |name: &[u8]| (name == b"HOME").then_some(&b"/root"[..]);
    Ok(tokenize(line.as_bytes())?
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => word.expand(7, lookup),
            other => panic!("{other:?} in {line}"),
        })
        .collect())
}

fn strings(line: &str) -> Vec<String> {
    words(line).unwrap().into_iter().map(|word| String::from_utf8(word).unwrap()).collect()
}

#[test]
fn quotes_join_and_keep_blanks() {
    assert_eq!(strings(r#"echo 'a  b'"c d"\ e '' "" x"#), ["echo", "a  bc d e", "", "", "x"]);
    assert_eq!(strings(r#""\$x \a \" \\" '\n'"#), [r#"$x \a " \"#, r"\n"]);
    assert_eq!(strings("a\\\nb \"c\\\nd\""), ["ab", "cd"]);
}

#[test]
fn dollars() {
    assert_eq!(
        strings(r#"$? "$?x" '$?' \$? $HOME/x "$NONE" $NONE $ $1"#),
        ["7", "7x", "$?", "$?", "/root/x", "", "$", "$1"]
    );
}

#[test]
fn a_word_can_be_shown_again() {
    let tokens = tokenize(br#"'a b'$?$HOME"#).unwrap();
    assert!(matches!(&tokens[..], [Token::Word(word)] if word.source() == b"a b$?$HOME"));
}

#[test]
fn comments_begin_words_only() {
    assert_eq!(strings("echo a#b # rest 'of line"), ["echo", "a#b"]);
}

#[test]
fn operators_need_no_blanks() {
    let kinds: Vec<_> = tokenize(b"a;b&&c||d&e\n")
        .unwrap()
        .into_iter()
        .filter(|token| !matches!(token, Token::Word(_)))
        .collect();
    assert_eq!(kinds, [Token::Semicolon, Token::And, Token::Or, Token::Background, Token::Newline]);
}

#[test]
fn what_the_shell_lacks_is_refused() {
    for line in ["a | b", "a > b", "a < b", "(a)", "`a`", "\"`a`\"", "$(a)", "${a}"] {
        assert!(matches!(words(line), Err(SyntaxError::Unsupported(_))), "{line}");
    }
    assert_eq!(strings("'|' \\> \"(\""), ["|", ">", "("]);
    assert_eq!(words("'a"), Err(SyntaxError::Unterminated('\'')));
    assert_eq!(words("\"a"), Err(SyntaxError::Unterminated('"')));
    assert_eq!(words("a\\"), Err(SyntaxError::Unfinished("\\")));
}

proptest! {
    /// Without operators and `$`, words are those of a POSIX shell as the `shlex` crate reads it.
    #[test]
    fn words_agree_with_shlex(line in r#"[a-c '"\\\n\t#-]{0,24}"#) {
        // shlex makes an empty word of a joined line end that stands alone; POSIX (XCU 2.2.1) makes nothing.
        prop_assume!(!line.contains("\\\n"));
        // A line end between words is a token of ours and a blank to shlex.
        let ours: Option<Vec<Vec<u8>>> = tokenize(line.as_bytes()).ok().map(|tokens| {
            tokens.iter().filter_map(|token| match token {
                Token::Word(word) => word.expand(0, |_| None),
                _ => None,
            }).collect()
        });
        let theirs = shlex::split(&line).map(|words| words.into_iter().map(String::into_bytes).collect());
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn any_bytes_are_words_or_an_error(line: Vec<u8>) {
        if let Ok(tokens) = tokenize(&line) {
            prop_assert!(tokens.len() <= line.len());
        }
    }

    /// Whatever a word holds, single quotes carry it through.
    #[test]
    fn quoting_round_trips(text in "[^\0]{0,16}") {
        let quoted = format!("'{}'", text.replace('\'', r"'\''"));
        prop_assert_eq!(words(&quoted).unwrap(), [text.into_bytes()]);
    }
}
