"""Puts `askr-bridge mcp` behind Streamable HTTP: the official conformance suite speaks to nothing else.

usage: door.py BRIDGE SOCKET

Prints its address and serves until its standard input ends. Each session is a server of its own. Only Python's standard
library is used.
"""

import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Longest time for one call, in seconds.
PATIENCE = 60
SESSION = "Mcp-Session-Id"
sessions = {}


class Session:
    def __init__(self):
        self.program = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines, self.turn = queue.Queue(), threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.program.stdout:
            self.lines.put(json.loads(line))

    def send(self, message):
        self.program.stdin.write(json.dumps(message).encode() + b"\n")
        self.program.stdin.flush()

    def ask(self, request):
        """What the server says until it has answered this request."""
        with self.turn:
            self.send(request)
            said = [self.lines.get(timeout=PATIENCE)]
            while said[-1].get("id") != request["id"]:
                said.append(self.lines.get(timeout=PATIENCE))
            return said


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", kind="application/json", session=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", kind)
        if session:
            self.send_header(SESSION, session)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.headers.get(SESSION)
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
            sessions[name] = Session()
        if name not in sessions:
            self.reply(400 if name is None else 404)
        elif "id" not in message or "method" not in message:
            sessions[name].send(message)
            self.reply(202)
        else:
            said = sessions[name].ask(message)
            events = "".join(f"event: message\ndata: {json.dumps(line)}\n\n" for line in said)
            self.reply(200, events.encode(), "text/event-stream", name)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        session = sessions.pop(self.headers.get(SESSION), None)
        if session:
            session.program.stdin.close()
        self.reply(200)

    def log_message(self, *_):
        pass


COMMAND = [sys.argv[1], "mcp", "--socket", sys.argv[2]]
door = ThreadingHTTPServer(("127.0.0.1", 0), Door)
threading.Thread(target=door.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{door.server_port}/mcp", flush=True)
sys.stdin.read()
