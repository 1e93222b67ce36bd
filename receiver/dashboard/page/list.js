// The list of deliveries: only the rows in view exist, so that thousands cost as little as ten.

import { count, duration, clockTime, number, plain, size, VERDICTS } from "./format.js";
import { el } from "./element.js";

const SPARE_ROWS = 6;

export class List {
  #box;
  #spacer = el("div", { class: "spacer", role: "presentation" });
  #entries = [];
  #rows = new Map();
  #selected = null;
  #choose;

  /** `choose(entry)` is called when a row is clicked. */
  constructor(box, choose) {
    this.#box = box;
    this.#choose = choose;
    box.append(this.#spacer);
    box.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(box);
  }

  /** Show these entries, the first on top; a reader who has scrolled down keeps the place. */
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

  /** Mark a row and bring it into view; null marks none. */
  select(key) {
    this.#selected = key;
    const place = this.#entries.findIndex((entry) => entry.key === key);
    if (place >= 0) this.#reveal(place);
    this.#draw();
  }

  /** Mark the row so many below the marked one, the first if none is marked; its entry. */
  step(by) {
    const rows = this.#entries;
    let place = rows.findIndex((entry) => entry.key === this.#selected);
    place = place < 0 && Number.isFinite(by) ? 0 : place + by;
    place = Math.max(0, Math.min(rows.length - 1, place));
    while (rows[place]?.skipped) place += by > 0 ? 1 : -1;
    const entry = rows[place];
    if (!entry) return null;
    this.select(entry.key);
    return entry;
  }

  get rowsInView() {
    return Math.max(1, Math.floor(this.#box.clientHeight / this.#rowHeight()) - 1);
  }

  #rowHeight() {
    return parseFloat(getComputedStyle(this.#box).getPropertyValue("--row")) || 40;
  }

  #reveal(place) {
    const height = this.#rowHeight();
    const top = place * height;
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    const below = top + height - this.#box.clientHeight;
    if (below > this.#box.scrollTop) this.#box.scrollTop = below;
  }

  #draw() {
    const height = this.#rowHeight();
    const first = Math.max(0, Math.floor(this.#box.scrollTop / height) - SPARE_ROWS);
    const last = Math.min(this.#entries.length, first + Math.ceil(this.#box.clientHeight / height) + 2 * SPARE_ROWS);
    const drawn = new Map();
    for (let place = first; place < last; place += 1) {
      const entry = this.#entries[place];
      drawn.set(entry.key, this.#row(entry, place, height));
    }
    for (const [key, { element }] of this.#rows) {
      if (!drawn.has(key)) element.remove();
    }
    this.#rows = drawn;
    const marked = drawn.get(this.#selected);
    if (marked) this.#box.setAttribute("aria-activedescendant", marked.element.id);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  // A row that is there already is moved, and made anew only if it tells something else now.
  #row(entry, place, height) {
    const told = `${entry.status} ${entry.took_ms} ${entry.verdict} ${entry.reason} ${entry.left} ${entry.lost}`;
    let row = this.#rows.get(entry.key);
    if (row?.told !== told) {
      row?.element.remove();
      const element = entry.skipped ? skippedRow(entry) : deliveryRow(entry, () => this.#choose(entry));
      element.id = `row-${entry.skipped ? "s" : "d"}-${nextId()}`;
      this.#spacer.append(element);
      row = { element, told };
    }
    row.element.style.transform = `translateY(${place * height}px)`;
    row.element.setAttribute("aria-posinset", place + 1);
    row.element.setAttribute("aria-setsize", this.#entries.length);
    row.element.setAttribute("aria-selected", entry.key === this.#selected);
    return row;
  }
}

let rowsMade = 0;
const nextId = () => (rowsMade += 1);

function skippedRow({ skipped }) {
  const words = `${count(skipped, "delivery", "deliveries")} skipped`;
  return el("div", { class: "row skip-mark", role: "option", "aria-disabled": "true" }, el("span", {}, words));
}

function deliveryRow(entry, choose) {
  const verdict = entry.lost ? "lost" : entry.verdict;
  return el(
    "div",
    { class: "row", role: "option", "data-verdict": verdict, "data-key": entry.key, on: { click: choose } },
    el("span", { class: "mark", "aria-hidden": "true" }),
    el("span", { class: "time" }, entry.lost ? "" : clockTime(entry.arrived_at)),
    el("span", { class: "method" }, entry.lost ? "" : entry.method),
    el("span", { class: "path" }, entry.lost ? `/${plain(entry.token)}` : plain(entry.path)),
    el("span", { class: "note" }, entry.lost ? "not kept: the inbox is bounded" : note(entry)),
    el("span", { class: "answer" }, entry.lost ? "" : answer(entry)),
    el("span", { class: "size" }, entry.lost ? `#${number(entry.sequence)}` : size(entry.body_bytes)),
  );
}

const note = ({ verdict, reason }) => (verdict === "unverified" ? (reason ?? VERDICTS.unverified) : VERDICTS[verdict]);

function answer({ status, left, took_ms: took }) {
  if (status !== null) return `${status} · ${duration(took)}`;
  return left ? `left · ${duration(took)}` : "waiting";
}
