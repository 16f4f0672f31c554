"""Server-sent events (WHATWG HTML, section 9.2.6)."""

from __future__ import annotations

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

    def __init__(self) -> None:
        self._last_event_id = ""
        self._begin()

    def _begin(self) -> None:
        self._event, self._data, self._has_id = "", list[str](), False

    def feed(self, read: bytes) -> StreamEvent | None:
        """Takes the next line. Returns the event that it ends; None while there is none."""
        line = read.decode("utf-8", "replace").rstrip("\n").removesuffix("\r")
        if line == "":
            ended = None
            if self._data or self._has_id:
                ended = StreamEvent(self._event or "message", "\n".join(self._data), self._last_event_id)
            self._begin()
            return ended
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._last_event_id, self._has_id = value, True
        return None
