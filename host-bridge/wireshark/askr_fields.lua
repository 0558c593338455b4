-- The pieces that the layouts of messages are made of, and the fields that they become in Wireshark.
--
-- A piece is a function of a reader and a tree: it takes its bytes from the reader and puts them into the tree. A reader
-- has `tvb`, the place `at` and where the message ends, `stop`; the numbers and texts of pieces outside of lists are left
-- in its `values`, and where the numbers were in its `ranges`. What does not fit raises `malformed`.

local fields = { all = {}, malformed = "the bytes are not what this message consists of" }
local kinds = {}

-- The field `askr.NAME`; the same name must mean the same kind of field everywhere.
function fields.declare(kind, name, base, names)
    if fields.all[name] then
        assert(kinds[name] == kind, name .. " is declared as " .. kinds[name] .. " and as " .. kind)
        return fields.all[name]
    end
    local label = name:gsub("_", " "):gsub("^%l", string.upper)
    fields.all[name] = ProtoField[kind]("askr." .. name, label, base, names)
    kinds[name] = kind
    return fields.all[name]
end

-- The next `length` bytes, or `malformed`.
local function take(reader, length)
    if length > reader.stop - reader.at then
        error(fields.malformed, 0)
    end
    local range = reader.tvb(reader.at, length)
    reader.at = reader.at + length
    return range
end

local function number(kind, length, name, base, names)
    local field = fields.declare(kind, name, base, names)
    return function(reader, tree)
        local range = take(reader, length)
        tree:add_le(field, range)
        local value = length == 8 and range:le_uint64() or range:le_uint()
        reader.values[name], reader.ranges[name] = value, range
    end
end

function fields.u8(name, names) return number("uint8", 1, name, base.DEC, names) end
function fields.u16(name, names) return number("uint16", 2, name, base.DEC, names) end
function fields.u32(name, names) return number("uint32", 4, name, base.DEC, names) end
function fields.u64(name) return number("uint64", 8, name, base.DEC) end
function fields.hex64(name) return number("uint64", 8, name, base.HEX) end
function fields.mode(name) return number("uint16", 2, name, base.OCT) end
-- A byte that has the field of a larger number.
function fields.small(name) return number("uint32", 1, name, base.DEC) end

-- So many bytes that stand for themselves.
function fields.fixed(name, length)
    local field = fields.declare("bytes", name)
    return function(reader, tree)
        local range = take(reader, length)
        tree:add(field, range)
        reader.values[name] = range:bytes():tohex(true)
    end
end

local function text(field, name, reader, tree, length)
    local value = ""
    if length > 0 then
        local range = take(reader, length)
        tree:add_packet_field(field, range, ENC_UTF_8 + ENC_STRING)
        value = range:string(ENC_UTF_8)
    end
    reader.values[name] = value
end

-- A text behind its length.
local function long_text(name, length_bytes)
    local field = fields.declare("string", name)
    local length_field = fields.declare("uint16", "length", base.DEC)
    return function(reader, tree)
        local range = take(reader, length_bytes)
        tree:add_le(length_field, range):prepend_text(name .. ": ")
        text(field, name, reader, tree, range:le_uint())
    end
end

function fields.text8(name) return long_text(name, 1) end
function fields.text16(name) return long_text(name, 2) end

-- A text up to the end of the message.
function fields.text(name)
    local field = fields.declare("string", name)
    return function(reader, tree)
        text(field, name, reader, tree, reader.stop - reader.at)
    end
end

-- Bytes up to the end of the message.
function fields.data(name)
    local field = fields.declare("bytes", name)
    return function(reader, tree)
        local length = reader.stop - reader.at
        if length > 0 then
            tree:add(field, take(reader, length))
        end
        reader.values[name .. "_length"] = length
    end
end

-- All pieces, one after the other.
function fields.run(pieces, reader, tree)
    for _, piece in ipairs(pieces) do
        piece(reader, tree)
    end
end

-- Pieces of which the summary knows nothing.
local function run_apart(pieces, reader, tree)
    local values, ranges = reader.values, reader.ranges
    reader.values, reader.ranges = {}, {}
    fields.run(pieces, reader, tree)
    reader.values, reader.ranges = values, ranges
end

-- One of several, in a tree of its own. Text that is too short for it is seen as such in the tree.
local function item(name, pieces, reader, tree)
    local branch = tree:add(reader.tvb(reader.at, reader.stop - reader.at), name)
    local begun = reader.at
    run_apart(pieces, reader, branch)
    branch:set_len(reader.at - begun)
end

-- A count, and then so many times the pieces.
function fields.list(name, pieces)
    local count_field = fields.declare("uint16", "count", base.DEC)
    return function(reader, tree)
        local range = take(reader, 2)
        tree:add_le(count_field, range):append_text(" (" .. name .. ")")
        for _ = 1, range:le_uint() do
            item(name, pieces, reader, tree)
        end
        reader.values["listed_" .. name] = range:le_uint()
    end
end

-- The pieces again and again up to the end of the message.
function fields.to_the_end(name, pieces)
    return function(reader, tree)
        while reader.at < reader.stop do
            item(name, pieces, reader, tree)
        end
    end
end

-- The pieces if the number before them, called `flag`, is 1.
function fields.optional(flag, pieces)
    return function(reader, tree)
        if reader.values[flag] == 1 then
            run_apart(pieces, reader, tree)
        end
    end
end

-- The items of an ext behind its length; `layouts` are those of the kinds. A kind that nobody knows is skipped.
function fields.ext(names, layouts)
    local length_field = fields.declare("uint16", "ext_length", base.DEC)
    local kind_field = fields.declare("uint8", "ext_kind", base.DEC, names)
    local item_field = fields.declare("uint16", "ext_item_length", base.DEC)
    local unknown = { fields.data("ext_bytes") }
    return function(reader, tree)
        local range = take(reader, 2)
        local branch = tree:add_le(length_field, range)
        local stop = reader.at + range:le_uint()
        if stop > reader.stop then
            error("an ext runs over the end of the frame", 0)
        end
        local outer = reader.stop
        while reader.at < stop do
            reader.stop = stop
            local kind = take(reader, 1)
            branch:add_le(kind_field, kind)
            local length = take(reader, 2)
            branch:add_le(item_field, length)
            if length:le_uint() > stop - reader.at then
                error("an item runs over the end of the ext", 0)
            end
            reader.stop = reader.at + length:le_uint()
            run_apart(layouts[kind:uint()] or unknown, reader, branch)
            if reader.at < reader.stop then
                error("bytes are left over in an item of the ext", 0)
            end
        end
        reader.stop = outer
    end
end

return fields
