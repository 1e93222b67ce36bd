"""A file to which each delivery is appended as a line of JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from hookproof.process.written_file import FileNotWritten, write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLines:
    """`stream` is the file at `path`, open for appending."""

    path: Path
    stream: FileIO

    def append(self, content: Mapping[str, object]) -> None:
        """Append a line; raises FileNotWritten."""
        try:
            write_whole(self.stream, f"{json.dumps(content)}\n".encode())
        except OSError as error:
            raise FileNotWritten(self.path, error) from None
