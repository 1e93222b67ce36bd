"""A command of hookproof that sends itself a signal just before it calls a function or a method.

    python -m tests.process.signalled_command MODULE:FUNCTION NUMBER WORD...

It may run in a fork that has imported everything, so the function has to be one that its callers
look up as they call it: in its own module, or at a class.
"""

import importlib
import os
import sys
from typing import Any


def main(place: str, number: int, *words: str) -> None:
    send_signal_before(place, number)
    sys.argv = ["hookproof", *words]
    importlib.import_module("hookproof.cli").main()


def send_signal_before(place: str, number: int) -> None:
    module, _, name = place.partition(":")
    *holders, name = name.split(".")
    holder: Any = importlib.import_module(module)
    for each in holders:
        holder = getattr(holder, each)
    original = getattr(holder, name)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        setattr(holder, name, original)
        os.kill(os.getpid(), number)
        return original(*arguments, **named)

    setattr(holder, name, interrupted)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
