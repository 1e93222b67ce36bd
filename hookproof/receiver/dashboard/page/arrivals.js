// When deliveries arrived, per token. A token's sequence counts all of its requests, so even the
// deliveries that the stream skipped are counted: they arrived between two known ones.

export const KEPT_S = 900;
const MOST_TOKENS = 200;

export class Arrivals {
  #tokens = new Map();

  add(rows) {
    for (const row of rows) {
      if (!row.lost) this.#count(row);
    }
  }

  clear() {
    this.#tokens.clear();
  }

  forget(tokens) {
    tokens.forEach((token) => this.#tokens.delete(token));
  }

  /** Each token with its number of requests. */
  tokens() {
    return [...this.#tokens].map(([token, { last }]) => ({ token, arrived: last }));
  }

  /** Arrivals in each of `bars` equal spans that end now, oldest first; null is all tokens. */
  counts(token, { now, span, bars }) {
    const counts = new Array(bars).fill(0);
    const end = Math.floor(now / span) + 1;
    for (const [name, { seconds }] of this.#tokens) {
      if (token !== null && name !== token) continue;
      for (const [second, arrived] of seconds) {
        const place = Math.floor(second / span) - end + bars;
        if (place >= 0 && place < bars) counts[place] += arrived;
      }
    }
    return counts;
  }

  #count({ token, sequence, arrived_at: at }) {
    const counted = this.#tokens.get(token);
    if (counted === undefined) {
      this.#tokens.set(token, { last: sequence, at, seconds: new Map([[Math.floor(at), 1]]) });
      if (this.#tokens.size > MOST_TOKENS) this.#forgetIdlest();
      return;
    }
    if (sequence <= counted.last) return;
    spread(counted.seconds, counted.at, at, sequence - counted.last);
    counted.last = sequence;
    counted.at = at;
    forgetBefore(counted.seconds, at - KEPT_S);
  }

  #forgetIdlest() {
    let idle = null;
    for (const [token, { at }] of this.#tokens) {
      if (idle === null || at < this.#tokens.get(idle).at) idle = token;
    }
    this.#tokens.delete(idle);
  }
}

function spread(seconds, from, to, arrived) {
  const steps = Math.min(arrived, KEPT_S);
  for (let step = 1; step <= steps; step += 1) {
    const second = Math.floor(from + ((to - from) * step) / steps);
    const share = Math.floor((arrived * step) / steps) - Math.floor((arrived * (step - 1)) / steps);
    seconds.set(second, (seconds.get(second) ?? 0) + share);
  }
}

function forgetBefore(seconds, oldest) {
  for (const second of seconds.keys()) {
    if (second >= oldest) return;
    seconds.delete(second);
  }
}
