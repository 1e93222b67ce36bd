"""A headless browser that records what a page must not do."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Page, sync_playwright

ARGUMENTS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# A page is there at once; on a busy machine the browser may wait long for a processor.
DEADLINE_MS: Final = 120_000
WATCH_POLICY: Final = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


@dataclass(slots=True, kw_only=True)
class ObservedPage:
    """An open page, and what it must not do: dialogs, errors, requests to other hosts."""

    page: Page
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def forbidden_actions(self, origin: str) -> list[str]:
        violations: list[str] = self.page.evaluate("window.violations")
        elsewhere = [url for url in self.requests if not url.startswith(f"{origin}/")]
        return [*self.dialogs, *self.errors, *violations, *elsewhere]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for several tests; skips them, with the reason, where it cannot start."""
    path = (
        os.environ.get("HOOKPROOF_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )
    if path is None:
        pytest.skip("no chromium was found; HOOKPROOF_CHROMIUM can name one")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            pytest.skip(f"chromium does not start: {error.message.splitlines()[0]}")
        browser.on("context", lambda context: context.set_default_timeout(DEADLINE_MS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(
    browser: Browser, url: str, *, width: int = 1280, height: int = 800
) -> Iterator[ObservedPage]:
    """Open a URL in a window of this size."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.add_init_script(WATCH_POLICY)
    page = context.new_page()
    observed = ObservedPage(page=page)

    def note_dialog(dialog: Dialog) -> None:
        observed.dialogs.append(dialog.message)
        dialog.dismiss()

    def note_console_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            observed.errors.append(message.text)

    page.on("dialog", note_dialog)
    page.on("pageerror", lambda error: observed.errors.append(str(error)))
    page.on("console", note_console_message)
    page.on("request", lambda request: observed.requests.append(request.url))
    try:
        page.goto(url)
        yield observed
    finally:
        context.close()
