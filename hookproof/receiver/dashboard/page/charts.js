// Two charts of the same time span: the number of arrivals, and each delivery by token, from its
// arrival to its answer.

import { el, svg } from "./element.js";
import { clock, count, number, plain } from "./format.js";

const SPANS = [
  ["1 min", 1],
  ["5 min", 5],
  ["15 min", 15],
];
const BARS = 60;
const WIDTH = 600;
const BARS_HEIGHT = 72;
const TRACK_HEIGHT = 14;
const MOST_TRACKS = 4;
const MOST_TICKS = 600;
const LEAST_TICK = 2;

export class Charts {
  #span = 1;
  #title = el("figcaption", {});
  #most = el("span", { class: "most" });
  #bars = svg("path", { class: "arrivals" });
  // Over them, and so at their feet, what is known to be verified or not.
  #known = svg("path", { class: "verified" });
  #unverified = svg("path", { class: "unverified" });
  #chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${BARS_HEIGHT}`, preserveAspectRatio: "none", role: "img" },
    this.#bars,
    this.#known,
    this.#unverified,
  );
  #tracks = el("div", { class: "tracks", "aria-hidden": "true" });
  #since = el("span", {});
  #middle = el("span", {});
  #now = el("span", {});
  #buttons;

  /** `onSpanChange` is called when another time span is chosen. */
  constructor(figure, onSpanChange) {
    this.#buttons = SPANS.map(([name, span]) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": span === this.#span,
          on: { click: () => this.#choose(span, onSpanChange) },
        },
        name,
      ),
    );
    figure.append(
      el(
        "div",
        { class: "charts-head" },
        this.#title,
        el("div", { class: "spans", role: "group", "aria-label": "Time span" }, this.#buttons),
      ),
      el("div", { class: "chart" }, this.#most, this.#chart),
      this.#tracks,
      el("div", { class: "axis" }, this.#since, this.#middle, this.#now),
    );
  }

  /** Draw the arrivals of a token, null for all; `entries` are the deliveries, newest first. */
  show(arrivals, token, entries, now) {
    const counts = arrivals.counts(token, { now, span: this.#span, bars: BARS });
    const most = Math.max(...counts);
    const sum = counts.reduce((left, right) => left + right, 0);
    const peak = `at most ${number(most)} in ${this.#span}\u00a0s`;
    const name = token === null ? "All tokens" : `/${plain(token)}`;
    this.#title.textContent = `${name} · ${count(sum, "arrival")}`;
    this.#most.textContent = most > 0 ? peak : "";
    this.#chart.setAttribute(
      "aria-label",
      `${count(sum, "arrival")} in ${BARS * this.#span} seconds, ${peak}`,
    );
    const length = BARS * this.#span;
    const ago = SPANS.find(([, span]) => span === this.#span)[0];
    this.#since.textContent = `${clock(now - length)}, ${ago} ago`;
    this.#middle.textContent = clock(now - length / 2);
    this.#now.textContent = `${clock(now)}, now`;
    const { unverified, known } = this.#verdictsOf(token, entries, now);
    const drawn = [
      [this.#bars, counts],
      [this.#known, known],
      [this.#unverified, unverified],
    ];
    for (const [path, heights] of drawn) {
      path.setAttribute("d", outline(heights, Math.max(most, ...known, 1)));
    }
    this.#tracks.replaceChildren(...this.#tracksOf(token, entries, now));
  }

  #choose(span, onSpanChange) {
    this.#span = span;
    SPANS.forEach(([, value], place) =>
      this.#buttons[place].setAttribute("aria-pressed", value === span),
    );
    onSpanChange();
  }

  #begin(now) {
    return (Math.floor(now / this.#span) + 1) * this.#span - BARS * this.#span;
  }

  /** The deliveries of the time span that are listed, newest first. */
  *#shown(token, entries, begin) {
    for (const entry of entries) {
      if (entry.skipped || entry.lost || (token !== null && entry.token !== token)) continue;
      if (entry.arrived_at < begin) return;
      yield entry;
    }
  }

  /** How many of the arrivals in each bar are known to be verified or not, and to be not. */
  #verdictsOf(token, entries, now) {
    const begin = this.#begin(now);
    const [known, unverified] = [new Array(BARS).fill(0), new Array(BARS).fill(0)];
    for (const { verdict, arrived_at: at } of this.#shown(token, entries, begin)) {
      const place = Math.floor((at - begin) / this.#span);
      if (place >= BARS || verdict === "unchecked") continue;
      known[place] += 1;
      if (verdict === "unverified") unverified[place] += 1;
    }
    return { known, unverified };
  }

  #tracksOf(token, entries, now) {
    const length = BARS * this.#span;
    const begin = this.#begin(now);
    const [tracks, leftOut] = [new Map(), new Set()];
    let ticks = 0;
    for (const entry of this.#shown(token, entries, begin)) {
      if (!tracks.has(entry.token) && tracks.size >= MOST_TRACKS) leftOut.add(entry.token);
      if (leftOut.has(entry.token) || ticks >= MOST_TICKS) continue;
      ticks += 1;
      const track = tracks.get(entry.token) ?? tracks.set(entry.token, new Map()).get(entry.token);
      track.set(entry.verdict, (track.get(entry.verdict) ?? "") + tick(entry, begin, length, now));
    }
    const rest = leftOut.size > 0 ? [leftOutView(leftOut.size)] : [];
    return [...[...tracks].map(([name, marks]) => trackView(name, marks)), ...rest];
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
  return `M${from.toFixed(1)} 2h${wide.toFixed(1)}v${TRACK_HEIGHT - 4}h${-wide.toFixed(1)}z`;
}

function trackView(name, marks) {
  const paths = [...marks].map(([verdict, path]) => svg("path", { class: verdict, d: path }));
  return el(
    "div",
    { class: "track" },
    el("span", { class: "name" }, `/${plain(name)}`),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${TRACK_HEIGHT}`, preserveAspectRatio: "none" }, paths),
  );
}

function leftOutView(tokens) {
  return el("div", { class: "left-out" }, `and ${count(tokens, "more token")}`);
}
