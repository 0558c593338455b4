"""Looks at a disk image as README.md says, and adds a text and a program to it."""

import sys

from littlefs import LittleFS

image, program = sys.argv[1:]
with open(image, "rb") as file:
    data = bytearray(file.read())
fs = LittleFS(block_size=4096, block_count=len(data) // 4096, mount=False)
fs.context.buffer = data
fs.mount()
print(*sorted(fs.listdir("/")))
with fs.open("/log", "rb") as file:
    print("log", len(file.read()))
fs.mkdir("/from")
with fs.open("/from/host.txt", "w") as file:
    file.write("hello, guest\n")
with open(program, "rb") as source, fs.open("/from/program", "wb") as file:
    file.write(source.read())
fs.unmount()
with open(image, "r+b") as file:
    file.write(fs.context.buffer)
