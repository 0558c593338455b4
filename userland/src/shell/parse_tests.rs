//! What is parsed, how it is printed, and what is refused.

use super::print::script;
use super::tree::List;
use super::{ErrorKind, NESTING_MAX, Parser, SyntaxError};
use proptest::prelude::*;

fn parse(text: &[u8]) -> Result<List, SyntaxError> {
    let mut parser = Parser::new(text);
    let mut all = List::default();
    while let Some(List(items)) = parser.next_command()? {
        all.0.extend(items);
    }
    Ok(all)
}

/// The script printed again.
fn shown(text: &str) -> String {
    let list = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let printed = script(&list);
    assert_eq!(parse(&printed), Ok(list), "{:?}", String::from_utf8_lossy(&printed));
    String::from_utf8(printed).unwrap().trim_end().to_owned()
}

fn kind(text: &str) -> ErrorKind {
    parse(text.as_bytes()).expect_err(text).kind
}

#[test]
fn commands_are_read_and_printed() {
    for (text, printed) in [
        ("a 1  2", "a 1 2;"),
        ("a;b & c", "a; b & c;"),
        ("a && b ||\n\n c | d |\n e", "a && b || c | d | e;"),
        ("! a | b", "! a | b;"),
        ("(a;b) >x 2>&1 <y", "( a; b; ) >x 2>&1 <y;"),
        ("{ a\nb; }", "{ a; b; };"),
        ("if a; then b; elif c\nthen d; else e; fi", "if a; then b; elif c; then d; else e; fi;"),
        ("while a; do b; done; until c; do d; done", "while a; do b; done; until c; do d; done;"),
        ("for x in 1 2; do a; done\nfor y do b; done", "for x in 1 2; do a; done; for y; do b; done;"),
        ("case $x in a|b) c;; (d) ;; *) e\nesac", "case ${x} in (a | b) c; ;; (d) ;; (*) e; ;; esac;"),
        ("f () { a; } >x", "f() { a; } >x;"),
        ("A=1 B='x y' c D=2", "A=1 B='x y' c D=2;"),
        (">x", ">x;"),
        ("a 3<>b >|c >>d &>e &>>f <&- 2>&1", "a 3<>b >|c >>d &>e &>>f <&- 2>&1;"),
        ("echo a2>x", "echo a2 >x;"),
        ("<b { c", "<b { c;"),
        ("a \\\n b # c\n# d\n\ne", "a b; e;"),
        ("echo if then fi { }", "echo if then fi { };"),
        ("", ""),
        (" \n# only\n\n", ""),
    ] {
        assert_eq!(shown(text), printed, "{text}");
    }
}

#[test]
fn words_are_read_and_printed() {
    for (text, printed) in [
        (r#"a'b'"c"\ d"#, r#"a'b'"c"' 'd"#),
        (r"\''x'", r"''\''x'"),
        (r#""\$x \a \" \\ \`""#, r#""\$x \\a \" \\ \`""#),
        ("'' \"\"", "'' \"\""),
        ("$a$?$1$10 $ a$", "${a}${?}${1}${1}0 '$' a'$'"),
        ("${a:-b c} ${a-} ${a:=x} ${a=x} ${a:?x} ${a?x}", "${a:-b c} ${a-} ${a:=x} ${a=x} ${a:?x} ${a?x}"),
        ("${a:+x} ${a+x} ${a#x} ${a##x} ${a%x} ${a%%x}", "${a:+x} ${a+x} ${a#x} ${a##x} ${a%x} ${a%%x}"),
        ("${#a} ${#} ${#@} ${##} ${#-x} ${10}", "${#a} ${#} ${#@} ${##} ${#-x} ${10}"),
        (r#""${a:-'b'}" ${a:-'}'} "${a#'*'}""#, r#""${a:-'b'}" ${a:-'}'} "${a#'*'}""#),
        ("$(a;b) `c \\`d\\`` \"$(e \"f\")\"", "$( a; b; ) $( c $( d; ); ) \"$( e \"f\"; )\""),
        ("$(( 1 + (2) * $x ))", "$(( 1 + (2) * ${x} ))"),
        ("$( (a) )", "$( ( a; ); )"),
        ("a#b ~ * [!a] {a,b}", "a#b ~ * [!a] {a,b}"),
    ] {
        assert_eq!(shown(&format!("x {text}")), format!("x {printed};"), "{text}");
    }
}

#[test]
fn here_documents_follow_their_line() {
    let text = "cat <<A <<'B'; echo x\na $x \\$ `b`\nA\n\ta $x\nB\ny";
    assert_eq!(shown(text), "cat <<EOF <<'EOF';\na ${x} \\$ $( b; )\nEOF\n\ta $x\nEOF\necho x; y;");
    assert_eq!(shown("cat <<-A\n\t\tone\n\tA\n"), "cat <<EOF;\none\nEOF");
    assert_eq!(shown("a <<A\nEOF\nA"), "a <<EOFF;\nEOF\nEOFF");
    assert_eq!(shown("x $(cat <<A\nb\nA\n) c"), "x $( cat <<EOF;\nb\nEOF\n) c;");
    assert_eq!(kind("cat <<A\nb\n"), ErrorKind::Unfinished("the end of a here-document"));
    assert_eq!(kind("cat <<A"), ErrorKind::Unfinished("the end of a here-document"));
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, unexpected) in [
        ("; a", ";"),
        ("a ;; b", ";;"),
        ("& a", "&"),
        ("a & ; b", ";"),
        ("a && || b", "||"),
        ("a | ; b", ";"),
        ("fi", "fi"),
        ("if a; fi", "fi"),
        ("while a; done", "done"),
        ("( )", ")"),
        ("a )", ")"),
        ("{ a; } b", "b"),
        ("if a; then b; fi c", "c"),
        ("for 1 in a; do b; done", "1"),
        ("a >\n", "newline"),
        ("a > ;", ";"),
        ("a b () { c; }", "("),
        ("f() a", "a"),
        ("case a in b c) d;; esac", "c"),
        ("echo $((1)", ")"),
    ] {
        assert_eq!(kind(text), ErrorKind::Unexpected(unexpected.into()), "{text}");
    }
    let error = parse(b"a\nb \\\n c\n\nfi\n").unwrap_err();
    assert_eq!(error.to_string(), "line 5: syntax error: unexpected `fi`");
    assert_eq!(kind("${a!}"), ErrorKind::BadSubstitution);
    assert_eq!(kind("${}"), ErrorKind::BadSubstitution);
    assert_eq!(kind("a 1234>b"), ErrorKind::BadDescriptor);
}

#[test]
fn what_is_unfinished_says_what_is_missing() {
    for text in [
        "'a",
        "\"a",
        "a\\",
        "a &&",
        "a ||\n",
        "a |",
        "if a",
        "if a; then b",
        "while a; do b",
        "for x in a",
        "case a in",
        "case a in b) c",
        "(a",
        "{ a",
        "$(a",
        "`a",
        "${a",
        "${a:-b",
        "$((1",
        "f()",
        "!",
    ] {
        assert!(parse(text.as_bytes()).unwrap_err().is_unfinished(), "{text}");
    }
    // More text can't help these.
    for text in ["`a '`", "cat <<A\n$(b\nA\n"] {
        assert!(!parse(text.as_bytes()).unwrap_err().is_unfinished(), "{text}");
    }
}

#[test]
fn levels_have_a_limit() {
    for open in ["(", "$(", "{ ", "\"$(", "${a:-", "if ", "while ", "f() { ", "$(( ", "case a in b) ", "! "] {
        let deep = open.repeat(NESTING_MAX * 2);
        assert!(parse(deep.as_bytes()).is_err(), "{open}");
    }
    let many = NESTING_MAX / 4;
    let text = format!("{} a {}", "( ".repeat(many), ") ".repeat(many));
    assert!(parse(text.as_bytes()).is_ok());
    assert_eq!(kind(&"$(".repeat(NESTING_MAX)), ErrorKind::TooDeep);
}

/// Pieces that scripts are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b ", " ", "\n", ";", "&", "&&", "||", "|", "(", ")", "{ ", "}", "!", "if ", "then ", "elif ",
        "else ", "fi", "while ", "do ", "done", "for ", "x", "in ", "case ", "esac", ";;", "<", ">", ">>",
        "<<E", "\nE\n", "2", "&>", ">&", "'", "\"", "\\", "$", "${", "}", ":-", "#", "%", "$(", "`", "$((",
        "))", "=", "*", "?", "[", "~", "f()", "\t", "é", "$x", "A=",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_printed_means_the_same(text in pieces()) {
        if let Ok(list) = parse(text.as_bytes()) {
            let printed = script(&list);
            prop_assert_eq!(parse(&printed), Ok(list), "{:?}", String::from_utf8_lossy(&printed));
        }
    }

    #[test]
    fn any_bytes_are_a_script_or_a_mistake(bytes: Vec<u8>) {
        match parse(&bytes) {
            Ok(list) => prop_assert_eq!(parse(&script(&list)), Ok(list)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// Whatever a word holds, single quotes carry it through.
    #[test]
    fn quoting_carries_any_text(text in "[^\0]{0,16}") {
        let quoted = format!("x '{}'", text.replace('\'', r"'\''"));
        prop_assert_eq!(shown(&quoted), format!("{quoted};"));
    }

    /// Without operators and `$`, there are as many words as the `shlex` crate reads.
    #[test]
    fn words_agree_with_shlex(line in r#"[a-c '"\\#-]{0,24}"#) {
        let ours = parse(format!("x {line}").as_bytes()).ok().map(|list| words(&list));
        let theirs = shlex::split(&format!("x {line}"));
        prop_assert_eq!(ours, theirs.map(|words| words.len()));
    }
}

fn words(list: &List) -> usize {
    match &list.0[0].chain.first.commands[0] {
        super::tree::Command::Simple(simple) => simple.words.len(),
        other => panic!("{other:?}"),
    }
}
