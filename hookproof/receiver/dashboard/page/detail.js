// The details of one delivery: its signature, times, headers and body.

import { bodyView, decodeBase64 } from "./body_view.js";
import { el } from "./element.js";
import { clockTime, day, duration, number, plain, size, VERDICTS } from "./format.js";
import { download } from "./receiver.js";

/** The view of a delivery; `before` is the row of the token's previous delivery, if held. */
export function detailView(delivery, before, { close, copy, replay }) {
  return el(
    "article",
    { class: "open-delivery", "data-verdict": delivery.verdict },
    el(
      "header",
      {},
      el(
        "button",
        {
          type: "button",
          class: "close",
          "aria-label": "Close",
          "aria-keyshortcuts": "Escape",
          on: { click: close },
        },
        "✕",
      ),
      el(
        "h2",
        {},
        el("span", { class: "method" }, delivery.method),
        " ",
        el("span", { class: "path" }, plain(delivery.path)),
      ),
      el(
        "p",
        { class: "quiet" },
        `Request ${number(delivery.sequence)} of token `,
        el("code", {}, plain(delivery.token)),
      ),
      actions(delivery, { copy, replay }),
    ),
    signature(delivery),
    part("Timeline", timeline(delivery, before)),
    part("Headers", headers(delivery.headers)),
    part(
      `Body · ${size(delivery.body_bytes)}`,
      bodyView(decodeBase64(delivery.shown_body_b64), delivery.body_bytes),
    ),
  );
}

/** The view of a delivery that cannot be shown, with the reason. */
export function failureView(message, close) {
  return el(
    "article",
    { class: "open-delivery" },
    el(
      "header",
      {},
      el(
        "button",
        { type: "button", class: "close", "aria-label": "Close", on: { click: close } },
        "✕",
      ),
    ),
    el("p", { class: "quiet", role: "alert" }, message),
  );
}

function actions({ token, sequence }, { copy, replay }) {
  return el(
    "div",
    { class: "actions" },
    el("button", { type: "button", "aria-keyshortcuts": "r", on: { click: replay } }, "Replay…"),
    el("button", { type: "button", "aria-keyshortcuts": "c", on: { click: copy } }, "Copy as curl"),
    el(
      "a",
      { class: "button", href: download("body", token, sequence), download: "" },
      "Save body",
    ),
    el(
      "a",
      { class: "button", href: download("request", token, sequence), download: "" },
      "Save request",
    ),
  );
}

function signature({ verdict, reason, detail, bisection }) {
  return el(
    "section",
    { class: "signature", "aria-label": "Signature" },
    el("p", { class: "verdict" }, VERDICTS[verdict], reason ? `: ${reason}` : ""),
    verdict === "unchecked" ? el("p", {}, "No secret is known for this token.") : null,
    detail ? el("p", {}, plain(detail)) : null,
    bisection ? el("p", { class: "bisection" }, plain(bisection)) : null,
  );
}

function part(title, ...content) {
  return el("section", {}, el("h3", {}, title), ...content);
}

function timeline(delivery, before) {
  const gap = before && !before.lost ? (delivery.arrived_at - before.arrived_at) * 1000 : null;
  const steps = [
    gap !== null && gap >= 0
      ? [`+ ${duration(gap)}`, `after request ${number(before.sequence)}`]
      : null,
    [
      clockTime(delivery.arrived_at),
      `arrived, ${day(delivery.arrived_at)}, from port ${delivery.peer_port}`,
    ],
    delivery.client_address ? ["client", plain(delivery.client_address)] : null,
    delivery.url ? ["URL", plain(delivery.url)] : null,
    ended(delivery),
    delivery.tls ? ["TLS", tlsText(delivery.tls)] : null,
    delivery.client_certificate
      ? ["certificate", `of the client, SHA-256 ${delivery.client_certificate}`]
      : null,
  ];
  return el(
    "ol",
    { class: "timeline" },
    steps
      .filter(Boolean)
      .map(([when, what]) =>
        el("li", {}, el("span", { class: "when" }, when), el("span", {}, what)),
      ),
  );
}

function ended({ status, left, took_ms: took }) {
  if (status !== null) return [`+ ${duration(took)}`, `answered ${status}`];
  return left
    ? [`+ ${duration(took)}`, "broken off before the answer was complete"]
    : ["…", "waiting for its answer"];
}

const tlsText = (tls) =>
  plain(
    [tls.version, tls.cipher, tls.server_name ? `for ${tls.server_name}` : "no server name"].join(
      ", ",
    ),
  );

function headers(pairs) {
  const rows = pairs.map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, plain(name)), el("td", {}, plain(value))),
  );
  return el("table", { class: "headers" }, el("tbody", {}, rows));
}
