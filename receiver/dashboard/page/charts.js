// Two figures of the same stretch of time: how many deliveries arrived, and each of them, token by token, from its arrival
// to its answer.

import { el, svg } from "./element.js";
import { count, number, plain } from "./format.js";

const SPANS = [["1 min", 1], ["5 min", 5], ["15 min", 15]];
const BARS = 60;
const WIDTH = 600;
const BARS_HEIGHT = 72;
const LANE_HEIGHT = 14;
const MOST_LANES = 4;
const MOST_TICKS = 600;
const LEAST_TICK = 2;

export class Figures {
  #span = 1;
  #title = el("figcaption", {});
  #most = el("span", { class: "most" });
  #bars = svg("path", { class: "arrivals" });
  #chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${BARS_HEIGHT}`, preserveAspectRatio: "none", role: "img" }, this.#bars);
  #lanes = el("div", { class: "lanes", "aria-hidden": "true" });
  #since = el("span", {});
  #buttons;

  /** `redraw` is called when another stretch of time is asked for. */
  constructor(figure, redraw) {
    this.#buttons = SPANS.map(([name, span]) =>
      el("button", { type: "button", "aria-pressed": span === this.#span, on: { click: () => this.#choose(span, redraw) } }, name),
    );
    figure.append(
      el("div", { class: "figures-head" }, this.#title, el("div", { class: "spans", role: "group", "aria-label": "Stretch of time" }, this.#buttons)),
      el("div", { class: "chart" }, this.#most, this.#chart),
      this.#lanes,
      el("div", { class: "axis" }, this.#since, el("span", {}, "now")),
    );
  }

  /** Draw the arrivals of a token, or of all for null; `entries` are the deliveries that are held, the newest first. */
  show(arrivals, token, entries, now) {
    const counts = arrivals.counts(token, { now, span: this.#span, bars: BARS });
    const most = Math.max(...counts);
    const sum = counts.reduce((left, right) => left + right, 0);
    const peak = `at most ${number(most)} in ${this.#span}\u00a0s`;
    this.#title.textContent = `${token === null ? "All tokens" : `/${plain(token)}`} · ${count(sum, "arrival")}`;
    this.#most.textContent = most > 0 ? peak : "";
    this.#chart.setAttribute("aria-label", `${count(sum, "arrival")} in ${BARS * this.#span} seconds, ${peak}`);
    this.#since.textContent = `${SPANS.find(([, span]) => span === this.#span)[0]} ago`;
    this.#bars.setAttribute("d", outline(counts, Math.max(most, 1)));
    this.#lanes.replaceChildren(...this.#lanesOf(token, entries, now));
  }

  #choose(span, redraw) {
    this.#span = span;
    SPANS.forEach(([, own], place) => this.#buttons[place].setAttribute("aria-pressed", own === span));
    redraw();
  }

  #lanesOf(token, entries, now) {
    const length = BARS * this.#span;
    const begin = (Math.floor(now / this.#span) + 1) * this.#span - length;
    const lanes = new Map();
    let ticks = 0;
    for (const entry of entries) {
      if (entry.skipped || entry.lost || (token !== null && entry.token !== token)) continue;
      if (entry.arrived_at < begin || ticks >= MOST_TICKS) break;
      if (!lanes.has(entry.token) && lanes.size >= MOST_LANES) continue;
      ticks += 1;
      const lane = lanes.get(entry.token) ?? lanes.set(entry.token, new Map()).get(entry.token);
      lane.set(entry.verdict, (lane.get(entry.verdict) ?? "") + tick(entry, begin, length, now));
    }
    return [...lanes].map(([name, marks]) => laneView(name, marks));
  }
}

function outline(counts, most) {
  const step = WIDTH / BARS;
  return counts
    .map((arrived, place) => {
      if (arrived === 0) return "";
      const height = Math.max(2, (arrived / most) * (BARS_HEIGHT - 2));
      return `M${place * step + 1} ${BARS_HEIGHT}v${-height}h${step - 2}v${height}z`;
    })
    .join("");
}

function tick({ arrived_at: at, took_ms: took, status, left }, begin, length, now) {
  const waits = status === null && !left;
  const seconds = waits ? Math.max(0, now - at) : (took ?? 0) / 1000;
  const from = Math.max(0, ((at - begin) / length) * WIDTH);
  const wide = Math.max(LEAST_TICK, Math.min(WIDTH - from, (seconds / length) * WIDTH));
  return `M${from.toFixed(1)} 2h${wide.toFixed(1)}v${LANE_HEIGHT - 4}h${-wide.toFixed(1)}z`;
}

function laneView(name, marks) {
  const paths = [...marks].map(([verdict, path]) => svg("path", { class: verdict, d: path }));
  return el(
    "div",
    { class: "lane" },
    el("span", { class: "name" }, `/${plain(name)}`),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${LANE_HEIGHT}`, preserveAspectRatio: "none" }, paths),
  );
}
