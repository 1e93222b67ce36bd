// Keyboard shortcuts for every action of the page, unless the user is typing.

import { el } from "./element.js";

const SHORTCUTS = [
  ["j or ↓", "next delivery"],
  ["k or ↑", "previous delivery"],
  ["PgDn, PgUp, Home, End", "page by page, or to the ends"],
  ["Enter", "open it"],
  ["Esc", "close it; clear the search"],
  ["/", "search"],
  ["p", "pause and resume"],
  ["c", "copy as curl"],
  ["r", "replay to another URL"],
];

/**
 * Call `actions[key]()` for the keys of the page; if an action returns false, the browser handles
 * the key.
 */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
      return;
    const typing = event.target.matches("input, select, textarea");
    if (typing && event.key !== "Escape") return;
    if (event.key === "Enter" && event.target.matches("button, a")) return;
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (action && action(event) !== false) event.preventDefault();
  });
}

/** Show the list of shortcuts. */
export function showShortcuts(dialog) {
  dialog.replaceChildren(
    el("h2", { id: "shortcuts-title" }, "Keyboard"),
    el(
      "dl",
      { class: "keys" },
      SHORTCUTS.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)]),
    ),
    el(
      "div",
      { class: "actions" },
      el("button", { type: "button", on: { click: () => dialog.close() } }, "Close"),
    ),
  );
  dialog.showModal();
}
