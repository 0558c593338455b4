use super::super::plan::{Plan, Step};
use super::super::request::{Request, StepResult};
use super::answer;
use askr_abi::plan::Ending;
use proptest::prelude::*;

/// The page that tells people what may be said.
const PAGE: &str = include_str!("../../../../docs/ai.md");

fn request(text: &str) -> Request {
    Request { text: text.into(), reads_plans: true, directory: "/home".into(), ..Request::default() }
}

fn with_result(text: &str, code: i32, output: &str) -> Plan {
    let lines = output.lines().count() as u64;
    let result = StepResult { code: Some(code), lines, is_cut: false, output: output.into() };
    answer(&Request { result: Some(result), ..request(text) })
}

/// A plan as the page shows it.
fn shown(plan: &Plan) -> String {
    let steps = plan.steps.iter().map(|step| match step {
        Step::Say(_) => "*says it*".to_owned(),
        Step::Run(arguments) => format!("`{}`", arguments.join(" ")),
        Step::Set(key, value) => format!("`ai config {key} {value}`"),
        Step::Get(key) => format!("`ai config {key}`"),
    });
    let more = if plan.ending == Ending::More { ", *then says or plans more*" } else { "" };
    steps.collect::<Vec<_>>().join(", ") + more
}

fn said(plan: &Plan) -> &str {
    match &plan.steps[..] {
        [Step::Say(text)] if plan.ending != Ending::More => text,
        _ => panic!("no words alone: {plan:?}"),
    }
}

/// The rows of the page's table of phrases: English, Chinese, plan.
fn rows() -> Vec<[String; 3]> {
    let lines = PAGE.lines().skip_while(|line| !line.starts_with("| you say |")).skip(2);
    let rows = lines.take_while(|line| line.starts_with("| "));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        <[&str; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}")).map(str::to_owned)
    })
    .collect()
}

#[test]
fn each_phrase_of_the_page_means_what_the_page_says_in_both_languages() {
    let rows = rows();
    assert!(rows.len() >= 30, "{} phrases", rows.len());
    for [english, chinese, plan] in rows {
        assert_eq!(shown(&answer(&request(&english))), plan, "{english}");
        assert_eq!(shown(&answer(&request(&chinese))), plan, "{chinese}");
        let polite = format!("Please {}{}?", english[..1].to_uppercase(), &english[1..]);
        assert_eq!(shown(&answer(&request(&polite))), plan, "{polite}");
        assert_eq!(shown(&answer(&request(&format!("请{chinese}。")))), plan, "{chinese}");
    }
}

#[test]
fn every_entry_of_the_table_has_its_row() {
    assert_eq!(rows().len(), super::PHRASES.len());
}

#[test]
fn nothing_that_deletes_is_guessed() {
    for text in [
        "delete",
        "delete everything",
        "delete all files",
        "remove *",
        "remove /tmp/*",
        "delete it",
        "delete files in /tmp",
        "clean up /tmp",
        "wipe the disk",
        "remove the old files",
        "erase all",
        "delete a and b",
        "delete -rf /",
        "please delete the directory",
        "format the disk",
        "remove all logs",
        "get rid of it and delete the rest",
        "erase the disk",
        "delete the system",
        "remove the directory data",
        "删除/tmp里的所有文件",
        "删除/tmp下面的文件",
        "删除/tmp/a和/tmp/b",
        "把/tmp中的文件删掉",
        "删除系统",
        "删除所有文件",
        "删除一切",
        "清空/tmp",
        "清理磁盘",
        "删除*",
        "把所有文件删除",
        "格式化磁盘",
        "删除",
        "全部删掉",
    ] {
        assert!(said(&answer(&request(text))).contains("I do not guess at what to delete"), "{text}");
    }
    // What was named is planned, and nothing beside it.
    assert_eq!(shown(&answer(&request("delete \"/tmp/a b\""))), "`rm /tmp/a b`");
    assert_eq!(shown(&answer(&request("删除文件夹/tmp/旧"))), "`rmdir /tmp/旧`");
}

#[test]
fn what_people_say_instead_means_the_same() {
    for (texts, plan) in [
        (&["can you show me what is in the directory /etc", "看看/etc下面有什么"][..], "`ls -l /etc`"),
        (&["how much free space do I have on the disk?", "磁盘空间还有多少"], "`df -h`"),
        (&["内存还剩多少", "how much memory is there"], "`free -h`"),
        (&["why did the last program crash"], "`events -x -n 8`, *then says or plans more*"),
        (
            &["configure the model gpt-4", "set the model to gpt-4", "use model gpt-4"],
            "`ai config model gpt-4`",
        ),
        (
            &["use the provider Ollama", "用ollama", "configure provider ollama"],
            "`ai config provider ollama`",
        ),
    ] {
        for text in texts {
            assert_eq!(shown(&answer(&request(text))), plan, "{text}");
        }
    }
    assert!(said(&answer(&request("use the force"))).contains("no language model"));
}

#[test]
fn what_is_not_understood_is_said_with_what_to_do() {
    for text in ["write me a poem", "", "的", "list", "\u{1b}[2J"] {
        let plan = answer(&request(text));
        assert!(
            said(&plan).contains("no language model") && said(&plan).contains("ai config provider"),
            "{text}"
        );
        assert!(plan.encode().is_ok() && plan.ending == Ending::Failed);
    }
    assert!(said(&answer(&request("run ls | wc"))).contains("the shell's"));
    assert!(said(&answer(&request("run echo 'a"))).contains("does not end"));
    assert_eq!(shown(&answer(&request("run echo 'a b' c"))), "`echo a b c`");
    assert!(said(&answer(&request("set timeout to soon"))).contains("timeout_ms must be"));
}

const PS: &str = "  PID  PPID  PGID STATE      RSS ORIGIN     NAME\n    1     0     1 sleeping  200K console    init\n    \
                  2     1     2 sleeping  1.5M console    sh\n    9     2     9 running   900K console    spin\n   \
                  11     2    11 running   900K console    spin\n   12     2    12 sleeping   16K console    sleep\n";

#[test]
fn processes_are_stopped_by_name_only_if_there_is_one() {
    assert_eq!(shown(&with_result("stop sleep", 0, PS)), "`kill 12`");
    assert!(said(&with_result("stop spin", 0, PS)).contains("9, 11"));
    assert!(said(&with_result("stop nobody", 0, PS)).contains("No process is called nobody"));
    let cut = StepResult { code: Some(0), lines: 90, is_cut: true, output: PS.into() };
    let plan = answer(&Request { result: Some(cut), ..request("stop sleep") });
    assert!(said(&plan).contains("I will not choose"), "{plan:?}");
}

#[test]
fn what_was_found_is_said() {
    let most = with_result("what is using memory", 0, PS);
    assert!(said(&most).starts_with("Most memory has sh (process 2): 1.5M, then spin"), "{most:?}");
    assert_eq!(said(&with_result("how many files are in /tmp", 0, "a\nb\n")), "There are 2 entries in /tmp.");
    assert_eq!(said(&with_result("how many files are in /x", 2, "ls: no\n")), "I could not list that.");
    let events = "7 1.5 exit pid=8 status=1 name=false\n9 2.0 fault pid=9 vector=14 name=crash\n\
                  10 2.0 exit pid=9 status=139 name=crash\n";
    let failed = with_result("what failed last and why?", 0, events);
    assert!(said(&failed).starts_with("crash (process 9) was ended because of a page fault"), "{failed:?}");
    let failed = with_result("why did false fail", 0, events);
    assert!(said(&failed).starts_with("false (process 8) ended with exit code 1"), "{failed:?}");
    // What could not be answered before is not what is asked about.
    let after = events.to_owned() + "12 3.0 exit pid=10 status=1 name=ai\n";
    let failed = with_result("why did the last program crash", 0, &after);
    assert!(said(&failed).starts_with("crash (process 9) was ended"), "{failed:?}");
    let only = with_result("what failed", 0, "12 3.0 exit pid=10 status=1 name=ai\n");
    assert!(said(&only).starts_with("ai (process 10) ended with exit code 1"), "{only:?}");
    assert!(said(&with_result("what failed", 0, "")).contains("Nothing"));
    let killed = with_result("what failed", 0, "7 1.5 exit pid=8 status=137 name=x\n");
    assert!(said(&killed).contains("signal 9"));
    assert!(said(&with_result("list files", 0, "x\n")).contains("all that I had planned"));
}

proptest! {
    #[test]
    fn any_request_has_an_answer_that_can_be_sent(text: String, output: String) {
        let first = answer(&request(&text));
        prop_assert!(first.encode().is_ok() || matches!(&first.steps[..], [Step::Run(_)]));
        let _ = with_result(&text, 0, &output);
        for known in ["stop x", "what failed", "what is using memory", "how many files are here"] {
            prop_assert!(with_result(known, 0, &output).encode().is_ok());
        }
    }

    #[test]
    fn no_words_around_it_make_a_plan_that_deletes_more(words in "(delete|remove|all|the|files|in|/tmp|删除|所有|\\*|a| ){1,8}") {
        for step in answer(&request(&words)).steps {
            if let Step::Run(arguments) = step {
                prop_assert!(arguments.iter().all(|argument| argument != "-r" && argument != "-rf" && !argument.contains('*')), "{:?}", arguments);
            }
        }
    }
}
