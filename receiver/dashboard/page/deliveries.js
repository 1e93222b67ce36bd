// The deliveries that the page holds: the last ones only, so that it never grows, and which of them the filter lets through.

export const MOST_HELD = 5000;
// Forgetting in steps moves the array less often.
const STEP = 500;

export const keyOf = (token, sequence) => `${sequence} ${token}`;

export class Deliveries {
  #entries = [];
  #byKey = new Map();
  #filter = { text: "", verdict: "", token: null };
  #filterNumber = 0;
  #marks = 0;

  /** All that arrived since the page began, held, forgotten or skipped. */
  arrived = 0;

  /** Take rows as the stream sends them; the ones that were new. */
  take(rows) {
    return rows.filter((row) => (row.new ? this.#add(row) : this.#amend(row)));
  }

  /** Put a mark for deliveries that the stream skipped. */
  skip(deliveries) {
    this.arrived += deliveries;
    this.#marks += 1;
    this.#push({ key: `skipped ${this.#marks}`, skipped: deliveries });
  }

  clear() {
    this.#entries = [];
    this.#byKey.clear();
    this.arrived = 0;
  }

  /** Forget all rows of some tokens. */
  forget(tokens) {
    const gone = new Set(tokens);
    this.#entries = this.#entries.filter(({ key, token, skipped }) => {
      const stays = skipped || !gone.has(token);
      if (!stays) this.#byKey.delete(key);
      return stays;
    });
    this.arrived = this.#entries.reduce((sum, { skipped }) => sum + (skipped ?? 1), 0);
  }

  get(key) {
    return this.#byKey.get(key);
  }

  get held() {
    return this.#byKey.size;
  }

  /** Show only what has this text, this verdict and this token; empty and null mean any. */
  filter(wanted) {
    this.#filter = { ...this.#filter, ...wanted, text: (wanted.text ?? this.#filter.text).trim().toLowerCase() };
    this.#filterNumber += 1;
  }

  get filtered() {
    const { text, verdict, token } = this.#filter;
    return text !== "" || verdict !== "" || token !== null;
  }

  get token() {
    return this.#filter.token;
  }

  /** All entries that are held, the newest first. */
  newestFirst() {
    return this.#entries.toReversed();
  }

  /** Those of some entries that the filter lets through. */
  passing(entries) {
    return this.filtered ? entries.filter((entry) => this.#passes(entry)) : entries;
  }

  /** The first and last sequences held of each token. */
  spans() {
    const spans = new Map();
    for (const { token, sequence, skipped } of this.#entries) {
      if (skipped) continue;
      const [first, last] = spans.get(token) ?? [sequence, sequence];
      spans.set(token, [Math.min(first, sequence), Math.max(last, sequence)]);
    }
    return spans;
  }

  #add(row) {
    const key = keyOf(row.token, row.sequence);
    const known = this.#byKey.get(key);
    if (known && known.arrived_at === row.arrived_at) return this.#amend(row);
    // The token was emptied and counts from 1 again.
    if (known) this.#entries.splice(this.#entries.indexOf(known), 1);
    this.arrived += 1;
    const entry = { ...row, key };
    this.#byKey.set(key, entry);
    this.#push(entry);
    return true;
  }

  // What the page has skipped or forgotten stays so.
  #amend(row) {
    const entry = this.#byKey.get(keyOf(row.token, row.sequence));
    if (entry) Object.assign(entry, row, { new: entry.new, filterNumber: -1 });
    return false;
  }

  #push(entry) {
    this.#entries.push(entry);
    if (this.#entries.length < MOST_HELD + STEP) return;
    for (const { key } of this.#entries.splice(0, STEP)) this.#byKey.delete(key);
  }

  #passes(entry) {
    if (entry.skipped) return !this.filtered;
    if (entry.filterNumber !== this.#filterNumber) {
      entry.filterNumber = this.#filterNumber;
      entry.passes = this.#matches(entry);
    }
    return entry.passes;
  }

  #matches(entry) {
    const { text, verdict, token } = this.#filter;
    if (token !== null && entry.token !== token) return false;
    if (verdict !== "" && entry.verdict !== verdict) return false;
    return text === "" || searched(entry).includes(text);
  }
}

function searched(entry) {
  const parts = [entry.token, entry.method, entry.path, entry.status, entry.reason, entry.text];
  return parts.filter((part) => part !== null && part !== undefined).join("\n").toLowerCase();
}
