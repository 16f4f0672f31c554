"""What several tests share."""

from __future__ import annotations

import json
import os
import socket
import threading
import unittest
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallet_sidecar import WalletSidecar

#: The root folder of the repository.
ROOT = Path(__file__).parents[3]
#: A sidecar on the sandbox, with a funded default wallet; empty where none runs.
URL = os.environ.get("SIDECAR_URL", "")
#: Credentials of a second wallet of it.
OTHER = os.environ.get("SIDECAR_CREDENTIALS", "")

#: A payment as the API writes it.
PAYMENT: dict[str, Any] = {
    "index": "0000001764000000000-ln_" + "0" * 64,
    "rail": "invoice",
    "kind": "invoice",
    "direction": "inbound",
    "amount": "1000.5",
    "fees": "0",
    "status": "completed",
    "status_msg": "completed",
    "created_at": 1764000000000,
    "updated_at": 1764000000001,
}

needs_sidecar = unittest.skipUnless(URL, "SIDECAR_URL names no sidecar")


def sandbox(control: str, body: Mapping[str, Any]) -> Any:
    """Calls a control of the sandbox, whose outside world plays customers and payees."""
    request = urllib.request.Request(
        f"{URL}/sandbox/{control}", json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@dataclass(frozen=True)
class Seen:
    """A request that a server of a test has read."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    raw: bytes


#: What a server does with one request: it writes to the connection, which is closed after that.
Step = Callable[[socket.socket, Seen], None]


class ScriptedServer:
    """A server whose steps handle one request each, in turn; the last one handles all further requests."""

    def __init__(self, *steps: Step) -> None:
        self.seen: list[Seen] = []
        self._steps = steps
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        # Shutting down wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def client(self, **options: Any) -> WalletSidecar:
        """Returns a client of this server."""
        return WalletSidecar(self.url, **options)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.seen.append(read_request(connection))
                step = self._steps[min(len(self.seen), len(self._steps)) - 1]
                try:
                    step(connection, self.seen[-1])
                except OSError:
                    # The client has gone, which some tests are about.
                    pass


def read_request(connection: socket.socket) -> Seen:
    """Reads one request with its body."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += received(connection)
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", "0")):
        more = received(connection)
        body, raw = body + more, raw + more
    method, target, _ = lines[0].split(" ")
    return Seen(method, target, headers, body, raw)


def received(connection: socket.socket) -> bytes:
    """Returns what has arrived; raises ConnectionError at the end."""
    data = connection.recv(65_536)
    if data:
        return data
    raise ConnectionError("the other side has closed the connection")


def answers(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Step:
    """A step that answers JSON, or bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    text = "\r\n".join(lines).encode() + b"\r\n\r\n" + content
    return lambda connection, _: connection.sendall(text)


def refuses(code: int, status: int, data: object = None, headers: Mapping[str, str] | None = None) -> Step:
    """A step that answers an error of the sidecar."""
    return answers({"code": code, "msg": "No.", "data": data, "sensitive": False}, status, headers)


def cuts(connection: socket.socket, _: Seen) -> None:
    """A step that gives no answer."""


def streams(text: str) -> Step:
    """A step that answers a stream of events and closes it."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    data = text.encode()
    chunk = f"{len(data):x}\r\n".encode() + data + b"\r\n"
    return lambda connection, _: connection.sendall(head.encode() + chunk)


def event(index: str) -> str:
    """The text of an event for a payment with this updated index."""
    return f"id: {index}\nevent: payment\ndata: {json.dumps({**PAYMENT, 'index': index})}\n\n"
