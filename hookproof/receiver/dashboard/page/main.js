// The live page: events update `deliveries` and `arrivals`, and the views are drawn from these.

import { Arrivals } from "./arrivals.js";
import { Deliveries, keyOf } from "./deliveries.js";
import { byId, el } from "./element.js";
import { Charts } from "./charts.js";
import { count, number } from "./format.js";
import { listenToKeys, showShortcuts } from "./keyboard.js";
import { List } from "./list.js";
import { OpenDelivery } from "./open_delivery.js";
import * as receiver from "./receiver.js";
import { listen } from "./stream.js";
import { TokensView } from "./tokens_view.js";

const CHARTS_EVERY_MS = 250;
const ROWS_PER_REQUEST = 1000;

const deliveries = new Deliveries();
const arrivals = new Arrivals();
const list = new List(byId("list"), (entry) => open(entry));
const charts = new Charts(byId("charts"), () => drawCharts());
const tokens = new TokensView(byId("tokens"), (token) =>
  filterBy({ token: token === deliveries.token ? null : token }),
);
const openDelivery = new OpenDelivery({
  box: byId("detail"),
  deliveries,
  status: byId("status"),
  onClose: () => byId("list").focus(),
});

let clockAheadMs = 0;
let pausedEntries = null;
let arrivedBefore = 0;
let drawing = false;
let chartsDrawn = 0;

listen({
  connection(state) {
    byId("connection").dataset.state = state;
    byId("connection").textContent = {
      live: "live",
      connecting: "reconnecting",
      ended: "receiver stopped",
    }[state];
  },
  started(settings) {
    deliveries.clear();
    arrivals.clear();
    clockAheadMs = Date.now() - settings.now * 1000;
    byId("empty").replaceChildren(...emptyHint(settings.receiver));
    if (pausedEntries) pause();
    draw();
  },
  deliveries(rows) {
    arrivals.add(deliveries.merge(rows));
    rows
      .filter((row) => !row.new)
      .forEach((row) => openDelivery.update(keyOf(row.token, row.sequence)));
    draw();
  },
  skipped(event) {
    deliveries.skip(event.deliveries);
    draw();
  },
  forgotten(names) {
    deliveries.forget(names);
    arrivals.forget(names);
    if (names.includes(deliveries.token)) filterBy({ token: null });
    if (pausedEntries) pause();
    draw();
  },
  async judged(names) {
    const spans = deliveries.spans();
    for (const token of names.filter((name) => spans.has(name)))
      await updateVerdicts(token, ...spans.get(token));
  },
});

async function updateVerdicts(token, first, last) {
  for (let from = first; from <= last; from += ROWS_PER_REQUEST) {
    deliveries.merge(
      await receiver.rows(token, from, Math.min(last, from + ROWS_PER_REQUEST - 1)).catch(() => []),
    );
  }
  openDelivery.updateToken(token);
  draw();
}

/** The receiver's time, in Unix seconds. */
const now = () => (Date.now() - clockAheadMs) / 1000;

/** Draw all views once before the next frame. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const entries = deliveries.matching(pausedEntries ?? deliveries.newestFirst());
    list.show(entries);
    showCount(entries.length);
    if (performance.now() - chartsDrawn >= CHARTS_EVERY_MS) drawCharts();
  });
}

function drawCharts() {
  chartsDrawn = performance.now();
  charts.show(arrivals, deliveries.token, deliveries.newestFirst(), now());
  tokens.show(arrivals, deliveries.token, now());
}

function showCount(shown) {
  const { arrived, held } = deliveries;
  const all =
    arrived > held
      ? `the last ${number(held)} of ${count(arrived, "delivery", "deliveries")}`
      : null;
  let words = all ? `Showing ${all}` : count(arrived, "delivery", "deliveries");
  if (deliveries.filtered)
    words = `${number(shown)} of ${all ?? count(arrived, "delivery", "deliveries")} match`;
  if (pausedEntries) words += ` · paused, ${number(arrived - arrivedBefore)} new`;
  byId("shown").textContent = words;
  byId("empty").hidden = arrived > 0;
  byId("list").hidden = arrived === 0;
}

function emptyHint(url) {
  const trust = url.startsWith("https:") ? "--cacert ca/ca.pem " : "";
  return [
    el(
      "p",
      {},
      "Nothing has arrived yet. The first segment of a path is the token of its deliveries:",
    ),
    el("pre", { class: "code" }, `curl ${trust}-d '{"hello": "world"}' ${url}/orders`),
  ];
}

function filterBy(wanted) {
  deliveries.filter(wanted);
  draw();
  drawCharts();
}

function open(entry) {
  if (entry.skipped) return;
  list.select(entry.key);
  openDelivery.open(entry);
}

function pause() {
  pausedEntries = deliveries.newestFirst();
  arrivedBefore = deliveries.arrived;
}

function togglePause() {
  if (pausedEntries) pausedEntries = null;
  else pause();
  byId("pause").setAttribute("aria-pressed", pausedEntries !== null);
  byId("pause").textContent = pausedEntries ? "Resume" : "Pause";
  draw();
}

function step(by) {
  const entry = list.step(by);
  if (entry && openDelivery.isOpen) openDelivery.open(entry);
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
  } else if (openDelivery.isOpen) {
    openDelivery.close();
  } else {
    return false;
  }
  return true;
}

byId("search").addEventListener("input", (event) => filterBy({ text: event.target.value }));
byId("search").addEventListener(
  "keydown",
  (event) => event.key === "Enter" && byId("list").focus(),
);
byId("verdict").addEventListener("change", (event) => filterBy({ verdict: event.target.value }));
byId("pause").addEventListener("click", togglePause);
byId("help").addEventListener("click", () => showShortcuts(byId("shortcuts")));
listenToKeys({
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  PageDown: () => step(list.rowsPerPage),
  PageUp: () => step(-list.rowsPerPage),
  Home: () => step(-Infinity),
  End: () => step(Infinity),
  Enter: openSelected,
  Escape: escape,
  "/": () => byId("search").focus(),
  p: togglePause,
  c: () => openDelivery.copy(),
  r: () => openDelivery.replay(),
  "?": () => showShortcuts(byId("shortcuts")),
});
setInterval(drawCharts, 1000);
