//! The table of phrases. `docs/ai.md` has an example of each with its plan, and a test compares.

use super::super::plan::{Plan, Step};
use super::super::request::{Request, StepResult};
use super::template::Slots;
use super::{looks, results, slot};
use askr_abi::plan::Ending;

/// Ways to say one thing, and what it means.
pub(super) struct Phrase {
    pub(super) english: &'static [&'static str],
    pub(super) chinese: &'static [&'static str],
    /// The plan; `None` if this is not meant after all.
    pub(super) plan: fn(&Slots<'_>, &Request) -> Option<Plan>,
    /// What follows from the result of its last step, if the plan asks for that.
    pub(super) then: Option<fn(&Slots<'_>, &StepResult) -> Plan>,
}

type Words = &'static [&'static str];

const fn phrase(english: Words, chinese: Words, plan: fn(&Slots<'_>, &Request) -> Option<Plan>) -> Phrase {
    Phrase { english, chinese, plan, then: None }
}

const fn dialog(
    english: Words,
    chinese: Words,
    plan: fn(&Slots<'_>, &Request) -> Option<Plan>,
    then: fn(&Slots<'_>, &StepResult) -> Plan,
) -> Phrase {
    Phrase { english, chinese, plan, then: Some(then) }
}

fn run(arguments: &[&str]) -> Option<Plan> {
    Some(Plan::run(arguments))
}

/// Of two that fit, the first counts.
pub(super) const PHRASES: &[Phrase] = &[
    // The agent itself.
    phrase(
        &["help", "what can you do", "what do you know|understand"],
        &["帮助", "你 能|会 做 什么", "你会什么"],
        |_, _| Some(Plan::say(HELP)),
    ),
    phrase(
        &[
            "[show|what_is|what's] [me] [the|your] [agent] configuration|config|settings",
            "which|what model [do_you_use|is_this|are_you]",
        ],
        &["[显示|查看] 配置|设置", "你 [在] 用 什么 模型"],
        |_, _| {
            let keys = ["provider", "model", "endpoint"];
            Some(Plan { steps: keys.map(|key| Step::Get(key.into())).into(), ending: Ending::Done })
        },
    ),
    phrase(
        &["set|change|configure [the|your] {key} to {value}", "use|configure [the|your] {key} {value}"],
        &["把 {key} 设为|设置为|改为|改成 {value}", "设置 {key} 为 {value}", "使用 {key} {value}"],
        |slots, _| looks::setting(slot(slots, "key"), slot(slots, "value")),
    ),
    phrase(&["use|configure [the] [provider] {provider}"], &["使用|用|启用 {provider}"], |slots, _| {
        looks::provider(slot(slots, "provider"))
    }),
    // Looking.
    phrase(
        &["where am i", "[what_is|what's|show] [the] current|working directory|folder", "pwd"],
        &["我 [现在] 在 哪|哪里|哪儿", "[显示] 当前 目录", "现在 在 哪个 目录"],
        |_, request| Some(Plan::say(request.directory.as_str())),
    ),
    phrase(
        &["[list|show|what|which] [me] [all] [the] commands|programs|tools [are_there|do_you_have|exist]"],
        &["有 哪些|什么 命令|程序|工具", "列出 [所有] 命令|程序|工具"],
        |_, _| run(&["ls", "/bin"]),
    ),
    phrase(
        &[
            "[what|which] processes [are_there|are_running]",
            "what_is|what's running [now|here]",
            "list|show [me] [all] [the] [running] processes",
        ],
        &["[现在] 有 哪些|什么 进程 [在运行]", "[正] 在 运行 什么", "列出|显示|查看 [所有] 进程"],
        |_, _| run(&["ps"]),
    ),
    dialog(
        &[
            "how_many files|entries are [there] [here|in_this_directory|in_this_folder]",
            "count [the|all] files [here]",
        ],
        &["这里|当前目录 [里|下|中] 有 多少|几 [个] 文件", "统计 [这里的] 文件 [数] [数量]"],
        |_, _| Some(Plan::run(&["ls", "-A1"]).and_then_more()),
        |_, result| results::count(".", result),
    ),
    dialog(
        &["how_many files|entries are [there] in|under {path}", "count [the|all] files in|under {path}"],
        &["{path} 里|下|中|里面|下面 有 多少|几 [个] 文件", "统计 {path} 里|下|中 [的] 文件 [数] [数量]"],
        |slots, _| Some(Plan::run(&["ls", "-A1", slot(slots, "path")]).and_then_more()),
        |slots, result| results::count(slot(slots, "path"), result),
    ),
    phrase(
        &["list|show [me] [all] [the] hidden files", "list|show [me] all files"],
        &["列出|显示 隐藏 文件|的文件", "列出|显示 所有 文件"],
        |_, _| run(&["ls", "-la"]),
    ),
    phrase(
        &[
            "list|show [me] [the] files|directory|folder [here|in_this_directory|in_this_folder]",
            "what_is|what's here",
            "which|what files are [there] [here]",
        ],
        &["列出|显示 [当前] [目录] [的] 文件|目录", "[这里|当前目录] 有 哪些|什么 文件"],
        |_, _| run(&["ls", "-l"]),
    ),
    phrase(
        &[
            "list|show [me] [all] [the] files|everything|contents|content in|of|under [the] [directory|folder] {path}",
            "[show] [me] what_is|what's in|inside|under [the] [directory|folder] {path}",
            "which|what files are [there] in|under {path}",
            "list [the] [directory|folder] {path}",
        ],
        &[
            "列出 [目录] {path} [里|中|下|里面] [的] [所有] 文件|内容|目录",
            "列出 [目录] {path}",
            "[看看|看] {path} 里|中|下|里面|下面 有 哪些|什么 [文件]",
        ],
        |slots, _| run(&["ls", "-l", slot(slots, "path")]),
    ),
    phrase(
        &["how big|large is [the] [file] {path}", "what_is|what's the size of {path}"],
        &["[文件] {path} 有 多 大", "{path} 的 大小"],
        |slots, _| run(&["ls", "-lhd", slot(slots, "path")]),
    ),
    phrase(
        &["show|print|read [me] [the] first {number} lines of|in|from {path}"],
        &["显示|查看|打印 {path} [的] 前 {number} 行"],
        |slots, _| run(&["head", "-n", slot(slots, "number"), slot(slots, "path")]),
    ),
    phrase(
        &["show|print|read [me] [the] last {number} lines of|in|from {path}"],
        &["显示|查看|打印 {path} [的] 最后|后 {number} 行"],
        |slots, _| run(&["tail", "-n", slot(slots, "number"), slot(slots, "path")]),
    ),
    phrase(
        &[
            "find|search_for|where_is|where_are|locate [a|the|all] file|files [called|named] {name}",
            "find|search_for [a|the|all] file|files [called|named] {name} in|under {path}",
        ],
        &[
            "查找|寻找|找 [名为|叫|叫做] {name} 的 文件",
            "查找|寻找|找 文件 {name}",
            "在 {path} [里|中|下] 查找|寻找|找 文件 {name}",
        ],
        |slots, _| {
            let place = if slot(slots, "path").is_empty() { "/" } else { slot(slots, "path") };
            run(&["find", place, "-name", slot(slots, "name")])
        },
    ),
    phrase(
        &[
            "find|search|search_for|look_for [the] [text|word] {text} in [the] [file|files] {path}",
            "which files in|under {path} contain {text}",
        ],
        &["在 {path} [里|中|里面] 搜索|查找|寻找|找 {text}", "{path} [里|中|下] 哪些 文件 包含 {text}"],
        |slots, _| run(&["grep", "-rn", "-F", "-e", slot(slots, "text"), slot(slots, "path")]),
    ),
    phrase(
        &[
            "count [the] lines in|of {path}",
            "how_many lines are in {path}",
            "how_many lines does {path} have",
        ],
        &["统计 {path} [的] 行数", "{path} 有 多少|几 行"],
        |slots, _| run(&["wc", "-l", slot(slots, "path")]),
    ),
    phrase(
        &[
            "count [the] words in|of {path}",
            "how_many words are in {path}",
            "how_many words does {path} have",
        ],
        &["统计 {path} [的] 单词数|词数|字数", "{path} 有 多少|几 个 单词|词"],
        |slots, _| run(&["wc", "-w", slot(slots, "path")]),
    ),
    phrase(
        &[
            "[how_much|show|what_is] [me] [the] [free|disk] disk|space [is|usage] [free|left|there|used|available]",
            "how_much room|space is [there|left|free] [left]",
            "how_much [free|disk] [disk] space do_i|do_we have [free|left] [on] [the] [disk]",
            "is the disk full",
            "free disk space",
        ],
        &[
            "[还] [剩] [有] 多少 [磁盘|硬盘] 空间",
            "[磁盘|硬盘] 空间 [还] 有|剩|剩下 [有] 多少",
            "[查看|显示] 磁盘|硬盘 [空间] [使用] [情况]",
            "剩余 空间",
            "磁盘 满 了 吗",
        ],
        |_, _| run(&["df", "-h"]),
    ),
    phrase(
        &[
            "how_much memory|ram is|do_we|do_i [there|have] [free|left|used|available]",
            "[show] [me] [the] [free] memory|ram [usage]",
        ],
        &[
            "[还] [剩] [有] 多少 内存",
            "内存 [还] 有|剩|剩下 [有] 多少",
            "[查看|显示] 内存 [使用] [情况]",
            "剩余 内存",
        ],
        |_, _| run(&["free", "-h"]),
    ),
    dialog(
        &[
            "what|who|which_process|which_program is|uses|takes|'s [using] [up] [the|all|so_much] [most] [of] [the] memory|ram",
            "what's using [up] [all|the|most] [the] memory|ram",
        ],
        &[
            "什么|谁|哪个进程|哪个程序 [在] 占用|占|用|占用了 [最] [多] [的] [了] 内存",
            "内存 被 什么|谁 占用|用 了|掉了",
            "什么|谁|哪个进程|哪个程序 占用 内存 最多",
        ],
        |_, _| Some(Plan::run(&["ps"]).and_then_more()),
        |_, result| results::memory(result),
    ),
    dialog(
        &[
            "what failed|crashed|broke [last|lately|recently] [and] [why]",
            "what went wrong",
            "why did it fail|crash",
            "why did the last program|process|command fail|crash|die|end",
            "what was|is the last failure|error|crash",
        ],
        &[
            "[最近|刚才|上次] 什么 失败|崩溃|出错 了 [，] [,] [为什么]",
            "出 了 什么 问题|错",
            "最后|上次|最近 一次 失败|错误|崩溃 [是] [什么]",
        ],
        |_, _| Some(Plan::run(&["events", "-x", "-n", "8"]).and_then_more()),
        |_, result| results::failure("", result),
    ),
    dialog(
        &["why did {name} fail|crash|die|end|stop|exit", "what happened to {name}"],
        &["{name} 为什么 失败|崩溃|退出|结束|停止 [了]", "{name} 怎么 了"],
        |_, _| Some(Plan::run(&["events", "-x", "-n", "12"]).and_then_more()),
        |slots, result| results::failure(slot(slots, "name"), result),
    ),
    phrase(
        &[
            "how_long [has] [it|the_machine|this|the_system] [been] up|running",
            "uptime",
            "how_long is|has it|this been|running [up|running]",
        ],
        &["[系统|机器] 运行|开机 [了] 多久|多长时间 [了]"],
        |_, _| run(&["uptime"]),
    ),
    phrase(
        &["what time|date|day is it [now]", "[what_is|what's|show] [the|today's] [current] time|date"],
        &["[现在] 几点 [了]", "今天 几号|是几号|星期几", "现在 [是] 什么 时间|时候", "显示 时间|日期"],
        |_, _| run(&["date"]),
    ),
    phrase(
        &[
            "which|what version|system|kernel|os [is] [this|it|runs_here]",
            "[show] [the] [kernel|system] version",
        ],
        &["[这] [是] 什么 系统|版本|内核", "[显示|查看] 系统|内核 版本"],
        |_, _| run(&["uname", "-a"]),
    ),
    phrase(
        &["show|print [me] [the] kernel|boot|system messages|log|logs"],
        &["显示|查看 内核|系统|启动 消息|日志"],
        |_, _| run(&["dmesg"]),
    ),
    phrase(
        &["what happened [lately|recently|last]", "show|list [me] [the] [last|latest] events"],
        &["[最近] 发生 了 什么", "显示|查看|列出 [最近的] 事件"],
        |_, _| run(&["events", "-n", "20"]),
    ),
    phrase(
        &["what|who waits|is_waiting for an answer", "list|show [me] [the] [pending|open] asks|questions"],
        &["有 什么|哪些 问题 [在] [等待] [等] [回答]", "列出|显示 问题"],
        |_, _| run(&["asks"]),
    ),
    // Changing.
    phrase(
        &["make|create [a|the] [new] directory|folder [called|named] {path}"],
        &["创建|新建|建立|建 [一个] [新] 目录|文件夹 {path}"],
        |slots, _| run(&["mkdir", slot(slots, "path")]),
    ),
    phrase(
        &["make|create [a|an|the] [new] [empty] file [called|named] {path}"],
        &["创建|新建|建立|建 [一个] [新] [空] 文件 {path}"],
        |slots, _| run(&["touch", slot(slots, "path")]),
    ),
    phrase(
        &["copy [the] [file] {from} to|into|as {to}"],
        &["复制|拷贝 [文件] {from} 到|为|成 {to}", "把 [文件] {from} 复制|拷贝 到|为|成 {to}"],
        |slots, _| run(&["cp", slot(slots, "from"), slot(slots, "to")]),
    ),
    phrase(
        &["move|rename [the] [file|directory|folder] {from} to|into|as {to}"],
        &[
            "移动|重命名 [文件|目录] {from} 到|为|成 {to}",
            "把 [文件|目录] {from} 移动|移|重命名|改名 到|为|成 {to}",
        ],
        |slots, _| run(&["mv", "-n", slot(slots, "from"), slot(slots, "to")]),
    ),
    phrase(
        &["make [the] [file|program] {path} executable", "make {path} a program"],
        &["让|使|把 [文件] {path} [变] [变成] [设为] 可执行 [文件]"],
        |slots, _| run(&["chmod", "+x", slot(slots, "path")]),
    ),
    phrase(
        &["delete|remove|erase [the] [empty] directory|folder [called|named] {path}"],
        &["删除|删掉|移除 [空] 目录|文件夹 {path}"],
        |slots, _| looks::delete("rmdir", slot(slots, "path")),
    ),
    phrase(
        &["delete|remove|erase [the] [file] [called|named] {path}"],
        &["删除|删掉|移除 [文件] {path}", "把 [文件] {path} 删除|删掉"],
        |slots, _| looks::delete("rm", slot(slots, "path")),
    ),
    phrase(
        &["stop|kill|end|terminate [the] [process|pid] {number}"],
        &["停止|结束|终止|杀掉|杀死 [进程] {number}"],
        |slots, _| run(&["kill", slot(slots, "number")]),
    ),
    dialog(
        &["stop|kill|end|terminate [the] [program|process] [called|named] {name}"],
        &["停止|结束|终止|杀掉|杀死 [程序|进程] {name}"],
        |_, _| Some(Plan::run(&["ps"]).and_then_more()),
        |slots, result| results::stop(slot(slots, "name"), result),
    ),
    phrase(
        &[
            "power_off|poweroff|shut_down|shutdown|switch_off|turn_off [the] [machine|system|computer]",
            "switch|turn|shut [the|this] machine|system|computer off|down",
        ],
        &["关机", "关闭 [这台] 机器|系统|电脑"],
        |_, _| run(&["poweroff"]),
    ),
    phrase(
        &["reboot|restart [the|this] [machine|system|computer]"],
        &["重启 [机器|系统|电脑]", "重新启动"],
        |_, _| run(&["reboot"]),
    ),
    phrase(
        &["run|execute|start|launch [the] [program|command] {command}"],
        &["运行|执行|启动 [程序|命令] {command}"],
        |slots, _| looks::command(slot(slots, "command")),
    ),
    // Last: any word after "show" may be a file.
    phrase(
        &["show|print|read|open|view|cat|display [me] [the] [content|contents] [of] [the] [file] {path}"],
        &["显示|查看|打印|读取|读|打开 [文件] {path} [的] [内容]"],
        |slots, _| run(&["cat", slot(slots, "path")]),
    ),
];

const HELP: &str = "I am the built-in agent, without a language model. In English or Chinese I understand, for example:\n\
    list files in /tmp; show the last 5 lines of FILE; find a file named NAME; search for TEXT in PATH; count the lines in FILE\n\
    how much space is left; how much memory is free; what is using memory; what is running; what failed last and why\n\
    make a directory PATH; copy A to B; move A to B; delete the file PATH; stop process N; stop NAME; run COMMAND\n\
    set the model to NAME; show the configuration; reboot; shut down\n\
    You are asked before anything changes. For everything else configure a model: ai config provider ollama (or openai, \
    anthropic), ai config model NAME";
