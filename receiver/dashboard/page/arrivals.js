// How many deliveries came when, per token. A token's sequence counts all of its requests, so that even what the stream
// skipped is counted: it came between the two that are known.

export const KEPT_S = 900;
const MOST_TOKENS = 200;

export class Arrivals {
  #tokens = new Map();

  take(rows) {
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

  /** Each token with how many of its requests arrived. */
  tokens() {
    return [...this.#tokens].map(([token, { last }]) => ({ token, arrived: last }));
  }

  /** Arrivals in `bars` equal spans that end now, of a token or of all: a count for each span, the oldest first. */
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
    const known = this.#tokens.get(token);
    if (known === undefined) {
      this.#tokens.set(token, { last: sequence, at, seconds: new Map([[Math.floor(at), 1]]) });
      if (this.#tokens.size > MOST_TOKENS) this.#forgetOne();
      return;
    }
    if (sequence <= known.last) return;
    spread(known.seconds, known.at, at, sequence - known.last);
    known.last = sequence;
    known.at = at;
    forgetBefore(known.seconds, at - KEPT_S);
  }

  #forgetOne() {
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
