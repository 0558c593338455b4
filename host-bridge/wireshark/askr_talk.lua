-- What the frames before it say about a frame: which request a response answers, what was sent before, which boot a
-- session is of; and a frame in one line.

return function(names)
    local talk = {}
    -- By session, seq and code: requests with their answers. By boot and seq: asks. By session: its boot, its last event.
    -- By packet: which of these it belongs to, since packets are looked at more than once.
    local requests, asks, boots, last_events, packets
    local boot_now

    function talk.forget()
        requests, asks, boots, last_events, packets, boot_now = {}, {}, {}, {}, {}, nil
    end
    talk.forget()

    -- Which conversation a request or response is of: a session is one at all doors, a base peer is answered where it asked.
    local function request_key(head)
        return table.concat({ head.session or "base " .. (head.door or ""), head.seq, head.code }, ":")
    end

    local function same_again(entry, frame, head)
        -- A base peer may use a number twice for two requests.
        return entry and (head.in_session or (entry.raw == frame and not entry.response))
    end

    -- The first time that a packet is looked at.
    local function note_request(pinfo, head, known, frame)
        local key = request_key(head)
        local entry = requests[key]
        if not same_again(entry, frame, head) then
            entry = { request = pinfo.number, at = pinfo.rel_ts, raw = not head.in_session and frame }
            entry.path = head.values.path or head.values.from
            requests[key] = entry
        else
            known.sent_before_in = entry.request
        end
        known.entry = entry
        if head.name == "ANSWER" and head.values.ask then
            known.ask = asks[(boot_now or "") .. head.values.ask]
        end
    end

    local function note_response(pinfo, head, known)
        local entry = requests[request_key(head)]
        if entry then
            if entry.response then
                known.sent_before_in = entry.response
            else
                entry.response, entry.answered_at = pinfo.number, pinfo.rel_ts
            end
            known.request_in, known.path = entry.request, entry.path
            known.seconds = pinfo.rel_ts - entry.at
        end
        if head.values.new_boot then
            boots[head.values.new_session], boot_now = head.values.new_boot, head.values.new_boot
        end
    end

    local function note_event(head, known)
        local key = head.session or "base"
        local last = last_events[key]
        if last and head.number > last + 1 then
            known.missing = head.number - last - 1
        end
        last_events[key] = math.max(last or 0, head.number)
    end

    local function note_ask(pinfo, head, known)
        local key = (boot_now or "") .. head.seq
        if asks[key] then
            known.sent_before_in = asks[key].ask
        else
            asks[key] = { ask = pinfo.number, at = pinfo.rel_ts }
        end
        known.asked = asks[key]
    end

    local function first_look(pinfo, head, frame)
        local known = {}
        if head.type == "REQUEST" then
            note_request(pinfo, head, known, frame)
        elseif head.type == "RESPONSE" then
            note_response(pinfo, head, known)
        elseif head.type == "EVENT" then
            note_event(head, known)
        elseif head.type == "DECISION_REQ" then
            note_ask(pinfo, head, known)
        elseif head.type == "DECISION_RESP" then
            known.ask = asks[(boot_now or "") .. head.seq]
        end
        if known.ask and not known.ask.answer then
            known.ask.answer = pinfo.number
        end
        known.boot = head.session and boots[head.session] or head.values.new_boot
        return known
    end

    local function interval(seconds)
        local whole = math.floor(seconds)
        return NSTime.new(whole, math.floor((seconds - whole) * 1e9 + 0.5))
    end

    -- What is known of a whole frame. Of a request or an ask the answer is known only once it has been seen, as in the
    -- second of two passes (tshark -2).
    function talk.note(pinfo, head, tvb)
        local known = packets[pinfo.number]
        if not known then
            known = first_look(pinfo, head, tvb:raw())
            packets[pinfo.number] = known
        end
        return {
            boot = known.boot,
            request_in = known.request_in,
            response_in = known.entry and known.entry.response,
            ask_in = known.ask and known.ask.ask,
            answer_in = known.asked and known.asked.answer,
            sent_before_in = known.sent_before_in,
            missing = known.missing,
            path = known.path,
            time = known.seconds and interval(known.seconds),
        }
    end

    -- What of a message is worth a place in its line, in this order; those behind a word are told with it.
    local SHOWN = {
        "path", "from", "to", "question", "client", "kernel", "version", "name",
        { "job", "job" }, { "pid", "pid" }, { "parent", "parent" }, { "exit_code", "exit code" },
        { "vector", "vector" }, { "wanted_by", "wanted by" }, { "freed_kib", "KiB freed" }, { "signal", "signal" },
        { "target_id", "id" }, { "offset", "offset" }, { "start", "start" }, { "size", "size" }, { "cursor", "cursor" },
        { "nread", "read" }, { "written", "written" }, { "accepted", "accepted" }, { "data_length", "bytes" },
        { "listed_entry", "entries" }, { "listed_process", "processes" }, { "listed_event", "listed" },
        { "listed_ask", "listed" }, { "event_cursor", "events" }, { "pending_asks", "asks" },
    }

    local function words_of(values)
        local words = {}
        for _, shown in ipairs(SHOWN) do
            local name, word = shown, nil
            if type(shown) == "table" then
                name, word = shown[1], shown[2]
            end
            local value = values[name]
            if value ~= nil and value ~= "" then
                words[#words + 1] = word and (word .. " " .. tostring(value)) or tostring(value)
            end
        end
        return words
    end

    -- A whole frame in one line.
    function talk.summary(head, known)
        local words = words_of(head.values)
        local values = head.values
        if head.type == "RESPONSE" then
            table.insert(words, 1, (head.name or "?") .. ": " .. (head.status or "?"))
            if known.path then
                table.insert(words, 2, known.path)
            end
            if values.job_state then
                words[#words + 1] = names.job_state[values.job_state]
            end
            if values.answer_verdict then
                words[#words + 1] = names.answer_verdict[values.answer_verdict]
            end
        elseif head.type == "REQUEST" then
            table.insert(words, 1, head.name)
        elseif head.type == "EVENT" then
            table.insert(words, 1, "event " .. head.number .. ", " .. head.name .. ":")
        elseif head.type == "DECISION_REQ" then
            table.insert(words, 1, "ask (" .. head.name .. "):")
        else
            table.insert(words, 1, "answer:")
        end
        if values.answer and values.answer ~= "" then
            words[#words + 1] = values.answer
        end
        if known.sent_before_in then
            words[#words + 1] = "[sent again]"
        end
        if head.malformed then
            words[#words + 1] = "[malformed]"
        end
        return table.concat(words, " ")
    end

    return talk
end
