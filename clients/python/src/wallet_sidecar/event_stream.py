"""Server-sent events (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class StreamEvent:
    """One event of a stream."""

    event: str
    data: str
    #: The id from which a reader can resume after this event; empty when the stream has sent none.
    last_event_id: str


class EventReader:
    """Puts lines together to events.

    A block with an id and no data is returned with empty data, because the id says where to resume.
    """

    def __init__(self, read_line: Callable[[], bytes]) -> None:
        self._read_line = read_line
        self._last_event_id = ""

    def next_event(self) -> StreamEvent:
        """Returns the next event. Raises what reading a line raises."""
        event, data, has_id = "", list[str](), False
        while True:
            line = self._read_line().decode("utf-8", "replace").rstrip("\n").removesuffix("\r")
            if line == "":
                if data or has_id:
                    return StreamEvent(event or "message", "\n".join(data), self._last_event_id)
                event = ""
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif name == "id":
                self._last_event_id, has_id = value, True
