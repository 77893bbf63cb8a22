"""Runs a function of a test as the ranks of a job, each in a process of its own on loopback."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

SECONDS = 60  # more than any of these programs takes on a loaded machine

_PROGRAM = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
function = getattr(importlib.import_module(sys.argv[2]), sys.argv[3])
function(int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
"""


_own_sockets = []


def own_port():
    """A port that nobody else on this machine is given while this process lives: a socket that does not listen stays bound to
    it, which leaves it to a server that sets SO_REUSEADDR."""
    own = socket.socket(socket.AF_INET)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(("", 0))
    _own_sockets.append(own)
    return own.getsockname()[1]


def start(function, rank, size, path, **environment):
    """A process that calls function(rank, size, path); what it writes can be read when it has ended."""
    command = [sys.executable, "-c", _PROGRAM, os.path.dirname(os.path.abspath(__file__)), function.__module__,
               function.__name__, str(rank), str(size), path]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1", **environment})


def finish(processes, seconds=SECONDS):
    """(status, output) of each; those that do not end are killed, and a test fails."""
    out = []
    try:
        for process in processes:
            text, _ = process.communicate(timeout=seconds)
            out.append((process.returncode, text))
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
        pytest.fail("did not end:\n" + "\n".join(p.communicate()[0] for p in processes))
    return out


def run(function, size=2, **environment):
    """Calls function(rank, size, path) in `size` processes; their outputs by rank. `path` is a file for a store."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store")
        results = finish([start(function, rank, size, path, **environment) for rank in range(size)])
    for rank, (status, text) in enumerate(results):
        assert status == 0, f"rank {rank} of {function.__name__} ended with {status}:\n{text}"
    return [text for _, text in results]


def interrupt(process):
    process.send_signal(signal.SIGINT)
