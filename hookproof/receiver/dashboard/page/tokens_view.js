// The list of tokens: the number of requests of each, and the last minute as a chart.

import { el, svg } from "./element.js";
import { number, plain } from "./format.js";

const BARS = 30;
const SPAN_S = 2;
const WIDTH = 60;
const HEIGHT = 16;

export class TokensView {
  #list;
  #choose;
  #items = new Map();

  /** `choose(token)` is called with the selected token, null for all. */
  constructor(list, choose) {
    this.#list = list;
    this.#choose = choose;
  }

  show(arrivals, selected, now) {
    const tokens = arrivals.tokens();
    const all = { token: null, arrived: tokens.reduce((sum, { arrived }) => sum + arrived, 0) };
    const shown = new Set();
    for (const { token, arrived } of [all, ...tokens]) {
      shown.add(token);
      const item = this.#items.get(token) ?? this.#add(token);
      item.count.textContent = number(arrived);
      item.button.setAttribute("aria-pressed", token === selected);
      item.bars.setAttribute(
        "d",
        outline(arrivals.counts(token, { now, span: SPAN_S, bars: BARS })),
      );
    }
    for (const [token, { element }] of this.#items) {
      if (!shown.has(token)) {
        element.remove();
        this.#items.delete(token);
      }
    }
  }

  #add(token) {
    const name = token === null ? "All tokens" : `/${plain(token)}`;
    const count = el("span", { class: "count" });
    const bars = svg("path");
    const button = el(
      "button",
      { type: "button", title: name, on: { click: () => this.#choose(token) } },
      el("span", { class: token === null ? "name all" : "name" }, name),
      svg(
        "svg",
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        bars,
      ),
      count,
    );
    const item = { element: el("li", {}, button), button, count, bars };
    this.#items.set(token, item);
    this.#list.append(item.element);
    return item;
  }
}

function outline(counts) {
  const most = Math.max(...counts, 1);
  const step = WIDTH / BARS;
  return counts
    .map((count, place) => {
      const height = count === 0 ? 0.6 : Math.max(1.5, (count / most) * HEIGHT);
      return `M${place * step} ${HEIGHT}v${-height}h${step - 0.6}v${height}z`;
    })
    .join("");
}
