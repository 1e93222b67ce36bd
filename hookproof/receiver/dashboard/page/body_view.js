// Shows a body in three ways: as indented JSON, as text, and byte by byte.

import { el } from "./element.js";
import { count, plain, size } from "./format.js";
import { indentJson } from "./json_text.js";

const BYTES_A_LINE = 16;
const HEX_LINES = 256;

/** Decode base64 to bytes. */
export const decodeBase64 = (base64) =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** The view of a body; `bytes` are the first of `total`. */
export function bodyView(bytes, total) {
  if (total === 0) return el("p", { class: "quiet" }, "No body.");
  const text = new TextDecoder().decode(bytes);
  const whole = bytes.length === total;
  const json = whole ? indentJson(text) : null;
  const panels = [
    ...(json ? [["Pretty", () => pretty(json)]] : []),
    ["Text", () => el("pre", { class: "code wrap" }, plain(text))],
    ["Hex", () => hex(bytes)],
  ];
  return el("div", {}, notes(bytes, total), tabs(panels));
}

function notes(bytes, total) {
  const messages = [];
  if (bytes.length < total)
    messages.push(`The first ${size(bytes.length)} of ${size(total)}; save it to see the rest.`);
  if (!isUtf8(bytes, bytes.length < total)) messages.push("This is not UTF-8 text.");
  return messages.map((words) => el("p", { class: "quiet" }, words));
}

function isUtf8(bytes, cut) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
    return true;
  } catch {
    return false;
  }
}

function pretty({ lines, cut }) {
  const shown = lines.flatMap((line) => [
    ...line.map(({ kind, text }) =>
      kind === "mark" || kind === "space" ? text : el("span", { class: kind }, plain(text)),
    ),
    "\n",
  ]);
  return el(
    "pre",
    { class: "code wrap json" },
    shown,
    cut ? "… the rest is not indented; see Text" : "",
  );
}

function hex(bytes) {
  const box = el("div", {});
  const more = el("button", { type: "button", class: "plain", on: { click: () => grow() } });
  const code = el("pre", { class: "code hex" });
  let shown = 0;
  const grow = () => {
    const end = Math.min(bytes.length, shown + HEX_LINES * BYTES_A_LINE);
    const lines = [];
    for (; shown < end; shown += BYTES_A_LINE) lines.push(hexLine(bytes, shown));
    shown = end;
    code.append(lines.join(""));
    more.textContent = `Show more (${count(bytes.length - shown, "byte")} left)`;
    more.hidden = shown >= bytes.length;
  };
  grow();
  box.append(code, more);
  return box;
}

function hexLine(bytes, from) {
  const part = [...bytes.subarray(from, from + BYTES_A_LINE)];
  const codes = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const text = part
    .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·"))
    .join("");
  return `${from.toString(16).padStart(6, "0")}  ${codes.padEnd(BYTES_A_LINE * 3 - 1)}  ${text}\n`;
}

let lastChosen = "Pretty";

/** Tabs of `[name, make]`; the last choice also applies to the next body. */
function tabs(panels) {
  const panel = el("div", {
    role: "tabpanel",
    id: "body-panel",
    tabindex: "0",
    "aria-label": "Body",
  });
  const buttons = panels.map(([name]) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        "aria-controls": "body-panel",
        on: { click: () => choose(name) },
      },
      name,
    ),
  );
  const choose = (name) => {
    panels.forEach(([own, make], place) => {
      buttons[place].setAttribute("aria-selected", own === name);
      buttons[place].tabIndex = own === name ? 0 : -1;
      if (own === name) panel.replaceChildren(make());
    });
  };
  const list = el(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Ways to show the body" },
    buttons,
  );
  list.addEventListener("click", (event) => {
    if (event.target.role === "tab") lastChosen = event.target.textContent;
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    const next =
      buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length];
    next.click();
    next.focus();
  });
  choose(panels.some(([name]) => name === lastChosen) ? lastChosen : panels[0][0]);
  return el("div", {}, list, panel);
}
