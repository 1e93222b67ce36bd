// The live page: what arrives goes into `deliveries` and `arrivals`, and the views are drawn from these.

import { Arrivals } from "./arrivals.js";
import { Deliveries, keyOf } from "./deliveries.js";
import { byId, el } from "./element.js";
import { Figures } from "./charts.js";
import { count, number } from "./format.js";
import { listenToKeys, showShortcuts } from "./keyboard.js";
import { List } from "./list.js";
import { Opened } from "./open_delivery.js";
import * as receiver from "./receiver.js";
import { listen } from "./stream.js";
import { TokensView } from "./tokens_view.js";

const FIGURES_EVERY_MS = 250;
const ROWS_ASKED = 1000;

const deliveries = new Deliveries();
const arrivals = new Arrivals();
const list = new List(byId("list"), (entry) => open(entry));
const figures = new Figures(byId("figures"), () => drawFigures());
const tokens = new TokensView(byId("tokens"), (token) => filterBy({ token: token === deliveries.token ? null : token }));
const opened = new Opened({ box: byId("detail"), deliveries, said: byId("said"), closed: () => byId("list").focus() });

let behindMs = 0;
let frozen = null;
let arrivedBefore = 0;
let drawing = false;
let figuresDrawn = 0;

listen({
  connection(state) {
    byId("connection").dataset.state = state;
    byId("connection").textContent = { live: "live", connecting: "reconnecting", ended: "receiver stopped" }[state];
  },
  started(settings) {
    deliveries.clear();
    arrivals.clear();
    behindMs = Date.now() - settings.now * 1000;
    byId("empty").replaceChildren(...invitation(settings.receiver));
    if (frozen) pause();
    draw();
  },
  deliveries(rows) {
    arrivals.take(deliveries.take(rows));
    rows.filter((row) => !row.new).forEach((row) => opened.changed(keyOf(row.token, row.sequence)));
    draw();
  },
  skipped(told) {
    deliveries.skip(told.deliveries);
    draw();
  },
  forgotten(names) {
    deliveries.forget(names);
    arrivals.forget(names);
    if (names.includes(deliveries.token)) filterBy({ token: null });
    if (frozen) pause();
    draw();
  },
  async judged(names) {
    const spans = deliveries.spans();
    for (const token of names.filter((name) => spans.has(name))) await judgeAnew(token, ...spans.get(token));
  },
});

async function judgeAnew(token, first, last) {
  for (let from = first; from <= last; from += ROWS_ASKED) {
    deliveries.take(await receiver.rows(token, from, Math.min(last, from + ROWS_ASKED - 1)).catch(() => []));
  }
  opened.judgedAnew(token);
  draw();
}

/** The receiver's time, in seconds. */
const now = () => (Date.now() - behindMs) / 1000;

/** Draw all views before the next frame, however much arrives until then. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const entries = deliveries.passing(frozen ?? deliveries.newestFirst());
    list.show(entries);
    tell(entries.length);
    if (performance.now() - figuresDrawn >= FIGURES_EVERY_MS) drawFigures();
  });
}

function drawFigures() {
  figuresDrawn = performance.now();
  figures.show(arrivals, deliveries.token, deliveries.newestFirst(), now());
  tokens.show(arrivals, deliveries.token, now());
}

function tell(shown) {
  const { arrived, held } = deliveries;
  const all = arrived > held ? `the last ${number(held)} of ${count(arrived, "delivery", "deliveries")}` : null;
  let words = all ? `Showing ${all}` : count(arrived, "delivery", "deliveries");
  if (deliveries.filtered) words = `${number(shown)} of ${all ?? count(arrived, "delivery", "deliveries")} match`;
  if (frozen) words += ` · paused, ${number(arrived - arrivedBefore)} new`;
  byId("shown").textContent = words;
  byId("empty").hidden = arrived > 0;
  byId("list").hidden = arrived === 0;
}

function invitation(url) {
  return [
    el("p", {}, "Nothing has arrived yet. The first part of a path is the token of its deliveries:"),
    el("pre", { class: "code" }, `curl ${url.startsWith("https:") ? "--cacert ca/ca.pem " : ""}-d '{"hello": "world"}' ${url}/orders`),
  ];
}

function filterBy(wanted) {
  deliveries.filter(wanted);
  draw();
  drawFigures();
}

function open(entry) {
  if (entry.skipped) return;
  list.select(entry.key);
  opened.open(entry);
}

function pause() {
  frozen = deliveries.newestFirst();
  arrivedBefore = deliveries.arrived;
}

function switchPause() {
  if (frozen) frozen = null;
  else pause();
  byId("pause").setAttribute("aria-pressed", frozen !== null);
  byId("pause").textContent = frozen ? "Resume" : "Pause";
  draw();
}

function step(by) {
  const entry = list.step(by);
  if (entry && opened.isOpen) opened.open(entry);
}

function openSelected() {
  const entry = list.selected ?? list.step(1)?.key;
  if (entry && deliveries.get(entry)) open(deliveries.get(entry));
}

function escape(event) {
  if (event.target === byId("search")) {
    byId("search").value = "";
    filterBy({ text: "" });
    byId("list").focus();
  } else if (opened.isOpen) {
    opened.close();
  } else {
    return false;
  }
  return true;
}

byId("search").addEventListener("input", (event) => filterBy({ text: event.target.value }));
byId("search").addEventListener("keydown", (event) => event.key === "Enter" && byId("list").focus());
byId("verdict").addEventListener("change", (event) => filterBy({ verdict: event.target.value }));
byId("pause").addEventListener("click", switchPause);
byId("help").addEventListener("click", () => showShortcuts(byId("shortcuts")));
listenToKeys({
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  PageDown: () => step(list.rowsInView),
  PageUp: () => step(-list.rowsInView),
  Home: () => step(-Infinity),
  End: () => step(Infinity),
  Enter: openSelected,
  Escape: escape,
  "/": () => byId("search").focus(),
  p: switchPause,
  c: () => opened.copy(),
  r: () => opened.replay(),
  "?": () => showShortcuts(byId("shortcuts")),
});
setInterval(drawFigures, 1000);
