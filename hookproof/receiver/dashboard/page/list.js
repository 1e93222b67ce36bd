// The list of deliveries. Only visible rows exist, so thousands cost no more than ten.

import { count, duration, clockTime, number, plain, size, VERDICTS } from "./format.js";
import { el } from "./element.js";

const SPARE_ROWS = 6;
// Pixels between press and release; a pointer that moves farther drags.
const FARTHEST_CLICK = 8;

export class List {
  #box;
  #spacer = el("div", { class: "spacer", role: "presentation" });
  #entries = [];
  #rows = new Map();
  #selected = null;
  #pressed = null;
  #choose;

  /** `choose(entry)` is called when a row is clicked. */
  constructor(box, choose) {
    this.#box = box;
    this.#choose = choose;
    box.append(this.#spacer);
    box.addEventListener("scroll", () => this.#draw(), { passive: true });
    // Between the press and the release of a button the row may move, as may the whole list: where
    // a click begins decides. A click without a press comes from assistive technology.
    box.addEventListener("pointerdown", (event) => (this.#pressed = event));
    document.addEventListener("pointerup", (event) => this.#release(event));
    box.addEventListener("click", (event) => event.detail === 0 && this.#chooseRow(rowOf(event)));
    new ResizeObserver(() => this.#draw()).observe(box);
  }

  /** Show these entries, first on top; a scrolled list keeps its position. */
  show(entries) {
    const height = this.#rowHeight();
    const above = Math.floor(this.#box.scrollTop / height);
    const anchor = above > 0 ? this.#entries[above]?.key : undefined;
    this.#entries = entries;
    this.#spacer.style.height = `${entries.length * height}px`;
    if (anchor !== undefined) {
      const moved = entries.findIndex((entry) => entry.key === anchor);
      if (moved >= 0) this.#box.scrollTop += (moved - above) * height;
    }
    this.#draw();
  }

  get selected() {
    return this.#selected;
  }

  /** Select a row and scroll it into view; null selects none. */
  select(key) {
    this.#selected = key;
    const index = this.#entries.findIndex((entry) => entry.key === key);
    if (index >= 0) this.#reveal(index);
    this.#draw();
  }

  /** Move the selection by a number of rows; returns the selected entry. */
  step(by) {
    const rows = this.#entries;
    let index = rows.findIndex((entry) => entry.key === this.#selected);
    index = index < 0 && Number.isFinite(by) ? 0 : index + by;
    index = Math.max(0, Math.min(rows.length - 1, index));
    while (rows[index]?.skipped) index += by > 0 ? 1 : -1;
    const entry = rows[index];
    if (!entry) return null;
    this.select(entry.key);
    return entry;
  }

  get rowsPerPage() {
    return Math.max(1, Math.floor(this.#box.clientHeight / this.#rowHeight()) - 1);
  }

  #release({ button, clientX, clientY }) {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed || button !== 0) return;
    const moved = Math.hypot(clientX - pressed.clientX, clientY - pressed.clientY);
    if (moved <= FARTHEST_CLICK) this.#chooseRow(rowOf(pressed));
  }

  #chooseRow(row) {
    const entry = this.#entries.find(({ key }) => this.#rows.get(key)?.element === row);
    if (entry && !entry.skipped) this.#choose(entry);
  }

  #rowHeight() {
    return parseFloat(getComputedStyle(this.#box).getPropertyValue("--row")) || 40;
  }

  #reveal(index) {
    const height = this.#rowHeight();
    const top = index * height;
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    const below = top + height - this.#box.clientHeight;
    if (below > this.#box.scrollTop) this.#box.scrollTop = below;
  }

  #draw() {
    const height = this.#rowHeight();
    const first = Math.max(0, Math.floor(this.#box.scrollTop / height) - SPARE_ROWS);
    const last = Math.min(
      this.#entries.length,
      first + Math.ceil(this.#box.clientHeight / height) + 2 * SPARE_ROWS,
    );
    const drawn = new Map();
    for (let index = first; index < last; index += 1) {
      const entry = this.#entries[index];
      drawn.set(entry.key, this.#row(entry, index, height));
    }
    for (const [key, { element }] of this.#rows) {
      if (!drawn.has(key)) element.remove();
    }
    this.#rows = drawn;
    const marked = drawn.get(this.#selected);
    if (marked) this.#box.setAttribute("aria-activedescendant", marked.element.id);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  // A row stays the same element while its content changes: a click that begins before the change
  // and ends after it is still a click on the row.
  #row(entry, index, height) {
    const { status, took_ms: took, verdict, reason, left, lost } = entry;
    const content = `${status} ${took} ${verdict} ${reason} ${left} ${lost}`;
    let row = this.#rows.get(entry.key);
    if (row?.content !== content) {
      const fresh = entry.skipped ? skippedRow(entry) : deliveryRow(entry);
      const element = row?.element ?? fresh;
      if (row) {
        element.dataset.verdict = fresh.dataset.verdict;
        element.replaceChildren(...fresh.childNodes);
      } else {
        element.id = `row-${entry.skipped ? "s" : "d"}-${nextId()}`;
        this.#spacer.append(element);
      }
      row = { element, content };
    }
    row.element.style.transform = `translateY(${index * height}px)`;
    row.element.setAttribute("aria-posinset", index + 1);
    row.element.setAttribute("aria-setsize", this.#entries.length);
    row.element.setAttribute("aria-selected", entry.key === this.#selected);
    return row;
  }
}

const rowOf = ({ target }) => target.closest(".row");

let rowCount = 0;
const nextId = () => (rowCount += 1);

function skippedRow({ skipped }) {
  const words = `${count(skipped, "delivery", "deliveries")} skipped`;
  return el(
    "div",
    { class: "row skip-mark", role: "option", "aria-disabled": "true" },
    el("span", {}, words),
  );
}

function deliveryRow(entry) {
  const verdict = entry.lost ? "lost" : entry.verdict;
  return el(
    "div",
    {
      class: "row",
      role: "option",
      "data-verdict": verdict,
    },
    el("span", { class: "mark", "aria-hidden": "true" }),
    el("span", { class: "time" }, entry.lost ? "" : clockTime(entry.arrived_at)),
    el("span", { class: "method" }, entry.lost ? "" : entry.method),
    el("span", { class: "path" }, entry.lost ? `/${plain(entry.token)}` : plain(entry.path)),
    el("span", { class: "note" }, entry.lost ? "not kept: the inbox is bounded" : note(entry)),
    el("span", { class: "answer" }, entry.lost ? "" : answer(entry)),
    el(
      "span",
      { class: "size" },
      entry.lost ? `#${number(entry.sequence)}` : size(entry.body_bytes),
    ),
  );
}

const note = ({ verdict, reason }) =>
  verdict === "unverified" ? (reason ?? VERDICTS.unverified) : VERDICTS[verdict];

function answer({ status, left, took_ms: took }) {
  if (status !== null) return `${status} · ${duration(took)}`;
  return left ? `left · ${duration(took)}` : "waiting";
}
