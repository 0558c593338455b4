//! What words become, with a shell that is not there.

use super::Parser;
use super::expand::{Failure, Host, fields, text};
use super::print::script;
use super::tree::{Command, List, Word};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Variables and files to expand with.
#[derive(Default)]
struct Fake {
    variables: BTreeMap<Vec<u8>, Vec<u8>>,
    positional: Vec<Vec<u8>>,
    files: Vec<&'static str>,
    requires_values: bool,
}

impl Host for Fake {
    fn parameter(&self, name: &[u8]) -> Option<Vec<u8>> {
        let number = str::from_utf8(name).ok().and_then(|name| name.parse::<usize>().ok());
        match (name, number) {
            (b"?", _) => Some(b"7".to_vec()),
            (b"#", _) => Some(self.positional.len().to_string().into_bytes()),
            (_, Some(number)) => self.positional.get(number.checked_sub(1)?).cloned(),
            _ => self.variables.get(name).cloned(),
        }
    }

    fn positional(&self) -> &[Vec<u8>] {
        &self.positional
    }

    fn assign(&mut self, name: &[u8], value: Vec<u8>) -> Result<(), Failure> {
        self.variables.insert(name.to_vec(), value);
        Ok(())
    }

    fn substitute(&mut self, list: &List) -> Result<Vec<u8>, Failure> {
        Ok([b"<", script(list).trim_ascii_end(), b">\n\n"].concat())
    }

    fn names(&mut self, directory: &[u8]) -> Vec<Vec<u8>> {
        let directory = str::from_utf8(directory).unwrap();
        let prefix = if directory == "." { String::new() } else { directory.to_owned() };
        let inside = self.files.iter().filter_map(|file| file.strip_prefix(&prefix));
        let mut names: Vec<_> =
            inside.map(|rest| rest.split('/').next().unwrap().as_bytes().to_vec()).collect();
        names.dedup();
        names
    }

    fn exists(&mut self, path: &[u8]) -> bool {
        let path = str::from_utf8(path).unwrap();
        self.files
            .iter()
            .any(|file| file == &path || file.starts_with(&format!("{}/", path.trim_end_matches('/'))))
    }

    fn requires_values(&self) -> bool {
        self.requires_values
    }

    fn ignores_patterns(&self) -> bool {
        false
    }
}

fn fake() -> Fake {
    let pairs = [
        ("x", "a  b"),
        ("e", ""),
        ("n", "12"),
        ("p", "/a/b.c.d"),
        ("HOME", "/root"),
        ("s", "*"),
        ("c", ":a::b:"),
    ];
    Fake {
        variables: pairs.map(|(name, value)| (name.into(), value.into())).into(),
        positional: vec![b"1 2".to_vec(), Vec::new(), b"3".to_vec()],
        files: vec![".hidden", "a.rs", "b.rs", "dir/one", "dir/two", "lib/one"],
        requires_values: false,
    }
}

fn words(line: &str) -> Vec<Word> {
    let mut parser = Parser::new(line.as_bytes());
    let list = parser.next_command().unwrap().unwrap();
    match &list.0[0].chain.first.commands[0] {
        Command::Simple(simple) => simple.words[1..].to_vec(),
        other => panic!("{other:?}"),
    }
}

fn try_expand(line: &str, host: &mut Fake) -> Result<Vec<String>, Failure> {
    let fields = fields(&words(&format!("x {line}")), host)?;
    Ok(fields.into_iter().map(|field| String::from_utf8(field).unwrap()).collect())
}

fn expand(line: &str) -> Vec<String> {
    try_expand(line, &mut fake()).unwrap()
}

#[test]
fn a_home_that_ends_with_a_slash_is_followed_by_no_second_one() {
    let mut host = fake();
    for (home, expected) in [("/", ["/", "/x"]), ("/h/", ["/h/", "/h/x"]), ("/h", ["/h", "/h/x"])] {
        host.variables.insert(b"HOME".to_vec(), home.into());
        assert_eq!(try_expand("~ ~/x", &mut host).unwrap(), expected);
    }
}

#[test]
fn values_are_split_unless_quoted() {
    for (line, expected) in [
        ("$x \"$x\"", &["a", "b", "a  b"][..]),
        ("-$x- '$x' \\$x", &["-a", "b-", "$x", "$x"]),
        ("$e \"$e\" ''$e", &["", ""]),
        ("$none", &[]),
        ("\"$@\"", &["1 2", "", "3"]),
        ("\"a$@b\"", &["a1 2", "", "3b"]),
        ("$@", &["1", "2", "3"]),
        ("\"$*\"", &["1 2  3"]),
        ("$# $1 ${3} $?", &["3", "1", "2", "3", "7"]),
        ("~ ~/x ~x 'a'~ \"~\"", &["/root", "/root/x", "~x", "a~", "~"]),
        ("$(a; b)c \"$(a)\"", &["<a;", "b;>c", "<a;>"]),
    ] {
        assert_eq!(expand(line), expected, "{line}");
    }
}

#[test]
fn separators_are_those_of_ifs() {
    let mut host = fake();
    host.variables.insert(b"IFS".to_vec(), b": ".to_vec());
    for (value, expected) in [
        (":a::b:", &["", "a", "", "b"][..]),
        (" a : b ", &["a", "b"]),
        ("a: :b", &["a", "", "b"]),
        (":", &[""]),
        ("  ", &[]),
    ] {
        host.variables.insert(b"v".to_vec(), value.into());
        assert_eq!(try_expand("$v", &mut host).unwrap(), expected, "{value:?}");
    }
    assert_eq!(try_expand("\"$*\"", &mut host).unwrap(), ["1 2::3"]);
    host.variables.insert(b"IFS".to_vec(), Vec::new());
    assert_eq!(try_expand("$x", &mut host).unwrap(), ["a  b"]);
}

#[test]
fn parameters_have_operations() {
    for (line, expected) in [
        ("${none-d} ${e-d} ${e:-d} ${n:-d}", &["d", "d", "12"][..]),
        ("${none+d} ${n+d} ${e:+d}", &["d"]),
        ("${none:-a b} \"${none:-a b}\" ${none:-\"a b\"}", &["a", "b", "a b", "a b"]),
        ("${#x} ${#none} ${#@}", &["4", "0", "3"]),
        ("${p#*/} ${p##*/} ${p%.*} ${p%%.*}", &["a/b.c.d", "b.c.d", "/a/b.c", "/a/b"]),
        ("\"${p#'*'}\" ${p%\"$none\".d}", &["/a/b.c.d", "/a/b.c"]),
        ("${new=1 2} $new", &["1", "2", "1", "2"]),
    ] {
        assert_eq!(expand(line), expected, "{line}");
    }
    let failure = |line| try_expand(line, &mut fake()).unwrap_err().to_string();
    assert_eq!(failure("${none?}"), "none: parameter not set");
    assert_eq!(failure("${e:?}"), "e: parameter null");
    assert_eq!(failure("${none:?say $n}"), "none: say 12");
    assert_eq!(failure("${9=x}"), "9: cannot assign this way");
    let mut strict = Fake { requires_values: true, ..fake() };
    assert!(try_expand("$none", &mut strict).is_err());
    assert_eq!(try_expand("${none-}\"$@\"", &mut strict).unwrap(), ["1 2", "", "3"]);
}

#[test]
fn patterns_stand_for_names() {
    for (line, expected) in [
        ("*.rs", &["a.rs", "b.rs"][..]),
        ("$s", &["a.rs", "b.rs", "dir", "lib"]),
        ("\"$s\" '*' \\*.rs", &["*", "*", "*.rs"]),
        ("[!a].rs *.none", &["b.rs", "*.none"]),
        ("*/one .h*", &["dir/one", "lib/one", ".hidden"]),
        ("*i*/t*", &["dir/two"]),
        ("d*/", &["dir/"]),
    ] {
        assert_eq!(expand(line), expected, "{line}");
    }
}

#[test]
fn arithmetic_is_that_of_c() {
    for (line, expected) in [
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("-7/2", "-3"),
        ("-7%3", "-1"),
        ("0x10+010", "24"),
        ("n*2+$n", "36"),
        ("1<2&&2<=2", "1"),
        ("0||!1", "0"),
        ("1?2:3", "2"),
        ("0?1/0:3", "3"),
        ("0&&(q=1)", "0"),
        ("~0^5|2&3", "-6"),
        ("1<<4>>1", "8"),
        ("1==1!=0", "1"),
        ("q=r=3", "3"),
        ("n+=2", "14"),
        ("9223372036854775807+1", "-9223372036854775808"),
        ("", "0"),
        (" none ", "0"),
        ("10-4-3", "3"),
    ] {
        assert_eq!(expand(&format!("$(({line}))")), [expected], "{line}");
    }
    for line in ["1/0", "1+", "1 2", "x y", "a?1", "08", "p+1", "q=", "1=2"] {
        assert!(try_expand(&format!("$(({line}))"), &mut fake()).is_err(), "{line}");
    }
    assert!(try_expand(&format!("$(({}))", "-".repeat(100)), &mut fake()).is_err());
    let mut host = fake();
    try_expand("$((q=5)) $((0&&(q=1)))", &mut host).unwrap();
    assert_eq!(host.variables[&b"q"[..]], b"5");
}

proptest! {
    /// A quoted value is one field and stays as it is.
    #[test]
    fn quoted_values_stay(value in "[^\0]{0,20}") {
        let mut host = fake();
        host.variables.insert(b"v".to_vec(), value.clone().into_bytes());
        prop_assert_eq!(try_expand("\"$v\"", &mut host).unwrap(), [value.clone()]);
        prop_assert_eq!(text(&words("x $v")[0], &mut host).unwrap(), value.into_bytes());
    }

    /// By the standard separators, fields are the words between blanks.
    #[test]
    fn split_values_are_their_words(value in "[ab\t\n ]{0,20}") {
        let mut host = fake();
        host.variables.insert(b"v".to_vec(), value.clone().into_bytes());
        let expected: Vec<_> = value.split_whitespace().map(str::to_owned).collect();
        prop_assert_eq!(try_expand("$v", &mut host).unwrap(), expected);
    }

    #[test]
    fn any_arithmetic_is_a_number_or_a_mistake(text in "[0-9a-c+*/%<>=&|^!~?:() -]{0,24}") {
        let mut host = fake();
        drop(super::arithmetic::evaluate(text.as_bytes(), &mut host));
    }
}
