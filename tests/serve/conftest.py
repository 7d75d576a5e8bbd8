"""A real server in a process of its own, on loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

START = 120  # seconds until a server must be ready; loaded machines take long to import torch


class Server:
    """`egam serve` on a free port, with its log."""

    def __init__(self, *options, **environment):
        command = [sys.executable, "-m", "egam", "serve", "--port", "0", *map(str, options)]
        variables = {"OMP_NUM_THREADS": "1", **os.environ, **environment}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables)
        self.lines, self._ready = [], threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(START), "the server did not start"
        ready = next((line for line in self.lines if line.get("event") == "ready"), None)
        assert ready, self.lines
        self.url = ready["url"]

    def _read(self):
        """Keep the pipe empty; every line must be JSON."""
        for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except json.JSONDecodeError:
                self.lines.append({"not json": line})
            if self.lines[-1].get("event") == "ready":
                self._ready.set()
        self._ready.set()

    def log(self, event):
        return [line for line in self.lines if line.get("event") == event]

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        self.process.kill()
        self.process.wait(30)
        self._reader.join(30)

    def ended(self, seconds=60):
        """The exit code."""
        code = self.process.wait(seconds)
        self._reader.join(30)
        return code

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


@pytest.fixture(scope="session")
def start_server():
    """A function that starts servers; all are ended with the tests."""
    pytest.importorskip("fastapi", reason="the service needs pip install 'egam[serve]'")
    pytest.importorskip("uvicorn", reason="the service needs pip install 'egam[serve]'")
    started = []

    def start(*options, **environment):
        started.append(Server(*options, **environment))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def server(start_server):
    """One server that most tests share."""
    return start_server("--nodes", 200, "--seconds", 20, "--body-mb", 1, "--log-level", "debug")


@pytest.fixture
def client(server):
    httpx = pytest.importorskip("httpx", reason="tests of the service need pip install httpx")
    with httpx.Client(base_url=server.url, timeout=120) as client:
        yield client
