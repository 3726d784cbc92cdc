"""All that happened, for those who run the server: one line an event, on stderr.

Knows: how an event becomes a line (text or JSON) and that nothing in it may break a terminal. Does not know: who
observes what.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
import traceback
from typing import Any, Literal, TextIO

import msgspec

from mcpdecl.diagnostics import escape

Format = Literal["text", "json"]


class Log:
    """Writes events. Safe from any thread; never raises, so that a closed stderr ends no call."""

    def __init__(self, format: Format = "text", stream: TextIO | None = None) -> None:
        self._format = format
        self._stream = stream
        self._lock = threading.Lock()

    def event(self, event: str, /, **fields: Any) -> None:
        """Write one event. Text of callers is escaped and cut."""
        self.write(self._line(event, fields))

    def _line(self, event: str, fields: dict[str, Any], **more: Any) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if self._format == "json":
            body = {"time": stamp, "event": event, **{k: _plain(v) for k, v in fields.items()}, **more}
            return msgspec.json.encode(body).decode()
        return " ".join([f"mcpdecl: {event}", *(f"{k}={_text(v)}" for k, v in fields.items())])

    def incident(self, error: BaseException, /, **fields: Any) -> str:
        """Log an unexpected error with its traceback under a new id, and return the id: all that a client gets.

        Both go out in one write, so that no other thread's line comes between. As text, the traceback is indented: what
        an error quotes of a caller cannot pass for an event. As JSON, it is a list of lines within the one event.
        """
        id = secrets.token_hex(4)
        fields = {"id": id, "error": f"{type(error).__name__}: {error}", **fields}
        trace = [escape(line, 2000) for line in "".join(traceback.format_exception(error)).splitlines()]
        if self._format == "json":
            self.write(self._line("incident", fields, traceback=trace))
        else:
            self.write("\n    ".join([self._line("incident", fields), *trace]))
        return id

    def write(self, text: str) -> None:
        """Write lines as they are (diagnostics are rendered elsewhere)."""
        try:
            with self._lock:
                print(text, file=self._stream or sys.stderr, flush=True)
        except (OSError, ValueError):
            pass  # stderr was closed by whoever started us: nothing is left to tell it to


def _text(value: Any) -> str:
    text = escape(str(value))
    return repr(text) if " " in text or not text else text


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | bool | None) else escape(str(value))
