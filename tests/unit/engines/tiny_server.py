"""The smallest thing that starts like an engine, for tests of processes: real sockets, real children, known faults.

python tiny_server.py PORT [--slow S] [--die WORDS] [--deaf] [--child FILE] [--answer STATUS]
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self._answer(200, b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(self.status, b'{"choices": [{"text": "yes"}]}')

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--die", default="")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--child", default="")
    parser.add_argument("--answer", type=int, default=200)
    asked = parser.parse_args()
    if asked.deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if asked.child:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(asked.child).write_text(str(child.pid), encoding="utf-8")
    print("starting", flush=True)
    time.sleep(asked.slow)
    if asked.die:
        sys.exit(asked.die)
    Handler.status = asked.answer
    HTTPServer(("127.0.0.1", asked.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
