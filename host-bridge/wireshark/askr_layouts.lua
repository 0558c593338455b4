-- What each message consists of, as docs/protocol.md tells: a function of the pieces in askr_fields.lua and the names in
-- askr_names.lua.

return function(f, names)
    local layouts = { request = {}, response = {} }

    local function verb(name, request, response)
        for code, of in pairs(names.verb) do
            if of == name then
                layouts.request[code], layouts.response[code] = request, response
                return
            end
        end
        error("no verb is called " .. name)
    end

    local path, data = f.text("path"), f.data("data")
    local job, pid, wait = f.u32("job"), f.u32("pid"), f.u32("wait_ms")

    local fault = { f.u8("signal"), f.small("vector"), f.hex64("fault_error"), f.hex64("address"), f.hex64("rip") }
    for _, register in ipairs(names.register) do
        fault[#fault + 1] = f.hex64(register)
    end
    fault[#fault + 1] = f.list("return address", { f.hex64("return_address") })

    local ext = f.ext(names.ext, {
        { pid, f.u32("left_ms"), f.text8("program") },
        { f.to_the_end("choice", { f.text8("choice") }) },
        { f.to_the_end("context", { f.text8("key"), f.text16("text") }) },
        { f.text("default") },
        fault,
    })

    -- Base generation.
    verb("STAT", { path }, {
        f.u8("file_type", names.file_type), f.mode("mode"), f.u32("uid"), f.u32("gid"), f.u64("size"),
        f.u64("mtime"), f.u64("atime"), f.u64("ctime"),
    })
    verb("LIST", { f.u32("start"), path }, {
        f.list("entry", { f.u8("file_type", names.file_type), f.u64("size"), f.text8("name") }),
    })
    verb("READ", { f.u64("offset"), f.u32("wanted"), path }, { f.u32("nread"), data })
    verb("WRITE", { f.u8("write_mode", names.write_mode), f.text16("path"), data }, { f.u32("written") })
    verb("MKDIR", { path }, {})
    verb("REMOVE", { path }, {})
    verb("PS", { f.u32("start") }, {
        f.list("process", {
            pid, f.u32("tid"), f.u8("process_state", names.process_state), f.u8("is_user"), f.text8("name"),
        }),
    })

    -- Sessions.
    local offer = { f.u16("generation"), f.u32("payload_limit"), f.u16("window") }
    verb("HELLO", { offer[1], offer[2], offer[3], f.fixed("nonce", 16), f.text8("client") }, {
        offer[1], offer[2], offer[3], f.u32("lease_ms"), f.u32("ping_ms"), f.fixed("new_boot", 16),
        f.fixed("new_session", 8), f.u64("event_cursor"), f.text8("kernel"), f.text8("version"),
        f.list("verb", { f.u16("known_verb", names.verb), f.u16("generation") }),
    })
    verb("PING", { f.u32("counter") }, {
        f.u32("previous_counter"), f.u16("pending_asks"), f.u64("event_cursor"), f.u64("uptime_ns"),
    })
    verb("STATS", {}, { f.list("counter", { f.text8("name"), f.u64("value") }) })
    verb("ASKS", { f.u16("first_ask") }, {
        f.list("ask", {
            f.u32("ask"), f.u16("ask_intent", names.intent), pid, f.u32("left_ms"), f.text8("program"),
            f.text16("question"), ext,
        }),
    })
    verb("ANSWER", { f.u32("ask"), f.u8("decision", names.decision), f.text("answer") }, {
        f.u8("answer_verdict", names.answer_verdict),
    })
    verb("EVENTS", { f.u64("cursor") }, {
        f.u64("lost"), f.u64("event_count"),
        f.list("event", {
            f.u64("time_ns"), f.u16("event_kind", names.event), pid, f.u32("aux"), f.u32("info"), f.text8("name"), ext,
        }),
    })
    verb("POWER", { f.u8("action", names.action) }, {})

    -- Files.
    verb("RENAME", { f.text16("from"), f.text("to") }, {})
    verb("UNLINK", { path }, {})
    verb("RMDIR", { path }, {})
    verb("TRUNCATE", { f.u64("size"), path }, {})
    verb("WRITE_AT", { f.u64("offset"), f.u8("sync"), f.text16("path"), data }, { f.u32("written") })
    verb("FSINFO", { path }, {
        f.u32("block_size"), f.u64("blocks"), f.u64("free"), f.u32("name_max"), f.u8("read_only"), f.text8("fs_kind"),
        f.text8("mount"),
    })
    verb("READDIR", { f.u64("cursor"), path }, {
        f.u64("next_cursor"),
        f.list("entry", {
            f.u8("node_type", names.node_type), f.mode("mode"), f.u64("size"), f.u64("mtime"), f.text8("name"),
        }),
    })

    -- Jobs.
    verb("SPAWN", {
        f.u8("stdin", names.stdin), f.u32("timeout_ms"), f.u32("output_limit"), f.text16("path"), f.text16("cwd"),
        f.list("argument", { f.text16("argument") }), f.list("environment", { f.text16("environment") }), f.data("input"),
    }, { job, pid })
    verb("WAIT", { job, wait }, {
        f.u8("job_state", names.job_state), f.u8("cause", names.cause), f.u32("exit_code"), pid, f.u32("processes"),
        f.u64("cpu_ns"), f.u64("stdout_total"), f.u64("stderr_total"), f.u8("has_fault"),
        f.optional("has_fault", fault),
    })
    verb("KILL", { f.u8("target", names.target), f.u32("target_id"), f.u8("signal") }, { f.u32("processes") })
    verb("OUTPUT", { job, f.u8("stream", names.stream), f.u64("cursor"), f.u32("max"), wait }, {
        f.u64("lost"), f.u64("total"), f.u8("ended"), data,
    })
    verb("INPUT", { job, f.u8("eof"), data }, { f.u32("accepted") })
    verb("PS2", { f.u32("after") }, {
        f.list("process", {
            pid, f.u32("parent"), f.u32("group"), job, f.u8("process_state", names.process_state),
            f.u8("origin", names.origin), f.u32("exit_code"), f.u64("cpu_ns"), f.u64("memory"), f.u64("age_ns"),
            f.text8("name"),
        }),
    })

    -- The system.
    verb("UPTIME", {}, { f.u64("uptime_ns") })
    verb("TIME", {}, { f.u64("unix_ns") })
    verb("MEMINFO", {}, { f.list("number", { f.text8("name"), f.u64("value") }) })
    verb("INFO", {}, { f.list("fact", { f.text8("name"), f.text16("text") }) })

    layouts.ext = ext
    layouts.event = { pid, f.u32("aux"), f.u32("info"), f.text8("name") }
    layouts.ask = { f.text("question") }
    layouts.answer = { f.text("answer") }
    -- What `aux` and `info` of an event are, by its kind.
    layouts.event_details = {
        spawn = { { "aux", "parent" } },
        exit = { { "info", "exit_code" } },
        fault = { { "info", "vector" } },
        oom = { { "aux", "wanted_by" }, { "info", "freed_kib" } },
    }
    for _, details in pairs(layouts.event_details) do
        for _, detail in ipairs(details) do
            f.declare("uint32", detail[2], base.DEC)
        end
    end
    return layouts
end
