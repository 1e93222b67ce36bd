// The dialog that sends a delivery again to another URL.

import { el } from "./element.js";
import { duration, plain } from "./format.js";
import * as receiver from "./receiver.js";

let lastOrigin = "http://127.0.0.1:8000";

/** Ask for a URL, send the delivery, and show the answer. */
export function askForReplay(dialog, { token, sequence, method, path }) {
  const url = el("input", {
    id: "replay-url",
    type: "url",
    value: lastOrigin + path,
    spellcheck: "false",
    autocomplete: "off",
  });
  const outcome = el("div", { class: "outcome", role: "status" });
  const send = el(
    "button",
    { type: "button", class: "first", on: { click: () => replay() } },
    "Send",
  );
  const replay = async () => {
    send.disabled = true;
    outcome.replaceChildren(el("p", { class: "quiet" }, "Sending…"));
    outcome.replaceChildren(await sendReplay(token, sequence, url.value));
    send.disabled = false;
  };
  url.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !send.disabled) replay();
  });
  dialog.replaceChildren(
    el("h2", { id: "replay-title" }, "Replay to another URL"),
    el(
      "p",
      { class: "quiet" },
      `Sends the same ${plain(method)}, headers and body. Only Host and the framing are new.`,
    ),
    el("label", { for: "replay-url" }, "URL"),
    url,
    el(
      "div",
      { class: "actions" },
      send,
      el("button", { type: "button", on: { click: () => dialog.close() } }, "Close"),
    ),
    outcome,
  );
  dialog.showModal();
  url.focus();
}

async function sendReplay(token, sequence, url) {
  try {
    const answer = await receiver.replay(token, sequence, url);
    lastOrigin = new URL(url).origin;
    const took = duration(answer.took_ms);
    const words = `Answered ${answer.status} after ${took}, from ${answer.address}.`;
    return el(
      "div",
      {},
      el("p", { class: "answered" }, words),
      answer.body ? el("pre", { class: "code wrap" }, plain(answer.body)) : null,
    );
  } catch (error) {
    return el("p", { class: "refused" }, plain(error.message));
  }
}
