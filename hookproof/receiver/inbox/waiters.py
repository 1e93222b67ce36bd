"""Tasks that wait for a token's n-th request.

A request costs nothing for those who wait on another token.
"""

import asyncio


class Waiters:
    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[int, asyncio.Future[None]]]] = {}

    def wake(self, token: str, number: int) -> None:
        """Wake those who wait for this request of the token, or for an earlier one."""
        if self._waiting:
            for wanted, future in self._waiting.get(token, ()):
                if wanted <= number:
                    _wake(future)

    def wake_all(self) -> None:
        for waiters in self._waiting.values():
            for _, future in waiters:
                _wake(future)

    async def wait(self, token: str, number: int) -> None:
        """Return when woken; the caller checks whether the request has arrived."""
        waiter = (number, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(token, []).append(waiter)
        try:
            await waiter[1]
        finally:
            waiters = self._waiting[token]
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[token]


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
