-- A Wireshark dissector for the frames at Askr's two doors, as `askr-bridge capture` writes them.
--
--   wireshark -X lua_script:host-bridge/wireshark/askr.lua askr.pcapng
--
-- docs/capture.md tells the layout of a packet and the fields to filter by; docs/protocol.md tells what the frames mean.

local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"
local names = dofile(here .. "askr_names.lua")
local f = dofile(here .. "askr_fields.lua")
local layouts = dofile(here .. "askr_layouts.lua")(f, names)
local talk = dofile(here .. "askr_talk.lua")(names)

local askr = Proto("askr", "Askr agent bus")

local field = {
    version = f.declare("uint8", "capture_version", base.DEC),
    direction = f.declare("string", "direction"),
    verdict = f.declare("string", "verdict"),
    door = f.declare("string", "door"),
    line = f.declare("bytes", "line"),
    type = f.declare("string", "type"),
    in_session = f.declare("uint8", "in_session", base.DEC),
    seq = f.declare("uint32", "seq", base.HEX),
    code = f.declare("uint16", "code", base.HEX),
    verb = f.declare("string", "verb"),
    event = f.declare("string", "event"),
    event_number = f.declare("uint32", "event_number", base.DEC),
    intent = f.declare("string", "intent"),
    payload_length = f.declare("uint16", "payload_length", base.DEC),
    session = f.declare("bytes", "session"),
    boot = f.declare("string", "boot"),
    status = f.declare("string", "status"),
    status_number = f.declare("uint8", "status_number", base.DEC),
    checksum = f.declare("uint32", "checksum", base.HEX),
    left_over = f.declare("bytes", "left_over"),
    request_in = f.declare("framenum", "request_in", base.NONE, frametype.REQUEST),
    response_in = f.declare("framenum", "response_in", base.NONE, frametype.RESPONSE),
    sent_before_in = f.declare("framenum", "sent_before_in", base.NONE, frametype.RETRANS_PREV),
    ask_in = f.declare("framenum", "ask_in", base.NONE, frametype.REQUEST),
    answer_in = f.declare("framenum", "answer_in", base.NONE, frametype.RESPONSE),
    time = f.declare("relative_time", "time"),
}

local list = {}
for _, of in pairs(f.all) do
    list[#list + 1] = of
end
askr.fields = list

local function expert_field(name, text, group, severity)
    return ProtoExpert.new("askr.expert." .. name, text, expert.group[group], expert.severity[severity])
end

local found = {
    broken = expert_field("broken", "Broken frame", "CHECKSUM", "ERROR"),
    malformed = expert_field("malformed", "Malformed message", "MALFORMED", "ERROR"),
    status = expert_field("status", "The request failed", "RESPONSE_CODE", "NOTE"),
    again = expert_field("again", "Sent again", "SEQUENCE", "NOTE"),
    gap = expert_field("gap", "Events are missing", "SEQUENCE", "NOTE"),
    wrong_way = expert_field("wrong_way", "No such frame goes this way", "PROTOCOL", "WARN"),
    link = expert_field("link", "The connection changed", "SEQUENCE", "NOTE"),
}
local experts = {}
for _, of in pairs(found) do
    experts[#experts + 1] = of
end
askr.experts = experts

local DIRECTIONS = { [1] = "to guest", [2] = "to host" }
local MARKERS = {
    [names.capture.link_up] = "The connection to %s was made",
    [names.capture.link_down] = "The connection to %s ended",
    [names.capture.resumed] = "The capture goes on with another hub; what was before this is not known",
}
local HEAD_LENGTH = 9
local SESSION_BIT = 0x80

function askr.init()
    talk.forget()
end

-- Undoes COBS (docs/protocol.md, Frames). The second result is false if the bytes end inside a run.
local function uncobs(raw)
    local parts, at = {}, 1
    while at <= #raw do
        local code = raw:byte(at)
        parts[#parts + 1] = raw:sub(at + 1, at + code - 1)
        at = at + code
        if at > #raw + 1 then
            return table.concat(parts), false
        end
        if code < 0xff and at <= #raw then
            parts[#parts + 1] = "\0"
        end
    end
    return table.concat(parts), true
end

-- The head of a frame as it is in its nine bytes, which may lie if the frame is broken.
local function read_head(tvb)
    local number = tvb(0, 1):uint()
    local in_session = number >= SESSION_BIT
    return {
        type = names.frame_type[number % SESSION_BIT],
        in_session = in_session,
        seq = tvb(1, 4):le_uint(),
        code = tvb(5, 2):le_uint(),
        length = tvb(7, 2):le_uint(),
        checksum_length = in_session and 4 or 2,
        values = {},
    }
end

local function add_head(tree, tvb, head)
    tree:add(field.type, tvb(0, 1), head.type or "unknown")
    tree:add(field.in_session, tvb(0, 1), head.in_session and 1 or 0):set_generated()
    tree:add_le(field.seq, tvb(1, 4))
    tree:add_le(field.code, tvb(5, 2))
    local range = tvb(5, 2)
    if head.type == "REQUEST" or head.type == "RESPONSE" then
        head.name = names.verb[head.code] or string.format("verb %#06x", head.code)
        tree:add(field.verb, range, head.name)
    elseif head.type == "EVENT" then
        head.name = names.event[head.code] or "event " .. head.code
        head.number = head.seq % 0x40000000
        tree:add(field.event, range, head.name)
        tree:add(field.event_number, tvb(1, 4), head.number):set_generated()
    elseif head.type then
        head.name = names.intent[head.code] or "intent " .. head.code
        tree:add(field.intent, range, head.name)
    end
    tree:add_le(field.payload_length, tvb(7, 2))
end

-- The pieces of the message behind a good head; a response has its status before them.
local function pieces_of(head, reader, tree)
    if head.type == "REQUEST" then
        return layouts.request[head.code] or { f.data("data") }
    elseif head.type == "EVENT" then
        return layouts.event
    elseif head.type == "DECISION_REQ" then
        return layouts.ask
    elseif head.type == "DECISION_RESP" then
        return layouts.answer
    end
    if reader.at == reader.stop then
        error(f.malformed, 0)
    end
    local range = reader.tvb(reader.at, 1)
    reader.at = reader.at + 1
    head.status = names.status[range:uint()] or "status " .. range:uint()
    local item = tree:add(field.status, range, head.status)
    tree:add(field.status_number, range)
    if head.status ~= "OK" then
        item:add_proto_expert_info(found.status, head.status)
        return {}
    end
    return layouts.response[head.code] or { f.data("data") }
end

-- What the numbers of an event mean in its kind.
local function add_event_details(tree, reader, head)
    for _, detail in ipairs(layouts.event_details[head.name] or {}) do
        local number, name = detail[1], detail[2]
        tree:add_le(f.all[name], reader.ranges[number]):set_generated()
        head.values[name] = head.values[number]
    end
end

local function add_message(tree, tvb, head)
    local reader = { tvb = tvb, at = HEAD_LENGTH, stop = HEAD_LENGTH + head.length, values = head.values, ranges = {} }
    local fine, why = pcall(function()
        if head.in_session then
            tree:add(field.session, tvb(reader.at, 8))
            head.session = tvb(reader.at, 8):bytes():tohex(true)
            reader.at = reader.at + 8
            layouts.ext(reader, tree)
        end
        f.run(pieces_of(head, reader, tree), reader, tree)
        if head.type == "EVENT" then
            add_event_details(tree, reader, head)
        end
        if reader.at < reader.stop then
            tree:add(field.left_over, tvb(reader.at, reader.stop - reader.at))
            error("bytes are left over", 0)
        end
    end)
    if not fine then
        tree:add_proto_expert_info(found.malformed, tostring(why))
        head.malformed = true
    end
end

-- A whole frame: its fields, and what is known of it from the frames before it.
local function add_whole(tree, tvb, head, pinfo, direction)
    add_head(tree, tvb, head)
    add_message(tree, tvb, head)
    tree:add_le(field.checksum, tvb(HEAD_LENGTH + head.length, head.checksum_length))
    local from_host = head.type == "REQUEST" or head.type == "DECISION_RESP"
    if direction ~= (from_host and "to guest" or "to host") then
        tree:add_proto_expert_info(found.wrong_way)
    end
    local known = talk.note(pinfo, head, tvb)
    if known.boot then
        tree:add(field.boot, tvb(0, 0), known.boot):set_generated()
    end
    for _, name in ipairs({ "request_in", "response_in", "ask_in", "answer_in", "sent_before_in" }) do
        if known[name] then
            tree:add(field[name], tvb(0, 0), known[name]):set_generated()
        end
    end
    if known.path then
        tree:add(f.all.path, tvb(0, 0), known.path):set_generated()
    end
    if known.time then
        tree:add(field.time, tvb(0, 0), known.time):set_generated()
    end
    if known.sent_before_in then
        tree:add_proto_expert_info(found.again, "Sent again: it is in frame " .. known.sent_before_in)
    end
    if known.missing then
        tree:add_proto_expert_info(found.gap, known.missing .. " events before this one were not seen")
    end
    return talk.summary(head, known)
end

-- What can be read of a broken frame, without a promise that it is true.
local function add_broken(tree, line, tvb, verdict)
    local why = string.format("Broken frame, %s: %s", verdict, names.verdict_text[verdict] or "unknown verdict")
    tree:add_proto_expert_info(found.broken, why)
    tree:add(field.line, line)
    if tvb and tvb:len() >= HEAD_LENGTH then
        local head = read_head(tvb)
        local branch = tree:add(tvb(0, HEAD_LENGTH), "What its head seems to say")
        add_head(branch, tvb, head)
        return string.format("[%s] %d bytes, like %s %s", verdict, line:len(), head.type or "nothing known",
            head.name or "")
    end
    return string.format("[%s] %d bytes", verdict, line:len())
end

local function dissect(tvb, pinfo, root)
    local head_length = names.capture.head_length
    if tvb:captured_len() < head_length or tvb(0, 1):uint() ~= names.capture.version then
        return 0
    end
    pinfo.cols.protocol = "ASKR"
    local tree = root:add(askr, tvb())
    tree:add(field.version, tvb(0, 1))
    local what = tvb(2, 1):uint()
    local door = names.door[tvb(3, 1):uint()]
    if door then
        tree:add(field.door, tvb(3, 1), door)
    end
    if MARKERS[what] then
        local text = MARKERS[what]:format(names.door_text[door] or "a door")
        tree:add_proto_expert_info(found.link, text)
        pinfo.cols.info = text
        return tvb:captured_len()
    end
    local direction = DIRECTIONS[tvb(1, 1):uint()] or "unknown"
    local verdict = names.verdict[what] or "unknown"
    tree:add(field.direction, tvb(1, 1), direction)
    tree:add(field.verdict, tvb(2, 1), verdict)
    local guest = door and "guest:" .. door or "guest"
    pinfo.cols.src = direction == "to guest" and "host" or guest
    pinfo.cols.dst = direction == "to guest" and guest or "host"
    local line = tvb(head_length)
    local raw, complete = uncobs(line:raw())
    local frame = #raw > 0 and ByteArray.new(raw, true):tvb("Frame without COBS") or nil
    local head = complete and frame and frame:len() >= HEAD_LENGTH and read_head(frame)
    local summary
    -- Whoever captured has found it whole; a file may lie.
    if verdict == "whole" and head and HEAD_LENGTH + head.length + head.checksum_length == frame:len() then
        head.door = door
        summary = add_whole(tree, frame, head, pinfo, direction)
    else
        summary = add_broken(tree, line, frame, verdict)
    end
    pinfo.cols.info = summary
    tree:append_text(", " .. summary)
    return tvb:captured_len()
end

function askr.dissector(tvb, pinfo, root)
    return dissect(tvb, pinfo, root)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, askr)
