// The deliveries that the page holds, only the latest, and which of them match the filter.

export const MOST_HELD = 5000;
// Removing several at a time moves the array less often.
const REMOVED_AT_ONCE = 500;

export const keyOf = (token, sequence) => `${sequence} ${token}`;

export class Deliveries {
  #entries = [];
  #byKey = new Map();
  #filter = { text: "", verdict: "", token: null };
  #filterNumber = 0;
  #skips = 0;

  /** How many arrived since the page started, including removed and skipped ones. */
  arrived = 0;

  /** Add or update rows of the stream; returns the new ones. */
  merge(rows) {
    return rows.filter((row) => (row.new ? this.#add(row) : this.#update(row)));
  }

  /** Add an entry for deliveries that the stream skipped. */
  skip(deliveries) {
    this.arrived += deliveries;
    this.#skips += 1;
    this.#append({ key: `skipped ${this.#skips}`, skipped: deliveries });
  }

  clear() {
    this.#entries = [];
    this.#byKey.clear();
    this.arrived = 0;
  }

  /** Remove all rows of some tokens. */
  forget(tokens) {
    const gone = new Set(tokens);
    this.#entries = this.#entries.filter(({ key, token, skipped }) => {
      const isKept = skipped || !gone.has(token);
      if (!isKept) this.#byKey.delete(key);
      return isKept;
    });
    this.arrived = this.#entries.reduce((sum, { skipped }) => sum + (skipped ?? 1), 0);
  }

  get(key) {
    return this.#byKey.get(key);
  }

  get held() {
    return this.#byKey.size;
  }

  /** Match only this text, verdict and token; empty and null match any. */
  filter(wanted) {
    this.#filter = {
      ...this.#filter,
      ...wanted,
      text: (wanted.text ?? this.#filter.text).trim().toLowerCase(),
    };
    this.#filterNumber += 1;
  }

  get filtered() {
    const { text, verdict, token } = this.#filter;
    return text !== "" || verdict !== "" || token !== null;
  }

  get token() {
    return this.#filter.token;
  }

  /** All held entries, newest first. */
  newestFirst() {
    return this.#entries.toReversed();
  }

  /** The entries that match the filter. */
  matching(entries) {
    return this.filtered ? entries.filter((entry) => this.#isMatch(entry)) : entries;
  }

  /** The first and last held sequence of each token. */
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
    if (known && known.arrived_at === row.arrived_at) return this.#update(row);
    // The token was reset and counts from 1 again.
    if (known) this.#entries.splice(this.#entries.indexOf(known), 1);
    this.arrived += 1;
    const entry = { ...row, key };
    this.#byKey.set(key, entry);
    this.#append(entry);
    return true;
  }

  // Deliveries that the page skipped or removed are not added again.
  #update(row) {
    const entry = this.#byKey.get(keyOf(row.token, row.sequence));
    if (entry) Object.assign(entry, row, { new: entry.new, filterNumber: -1 });
    return false;
  }

  #append(entry) {
    this.#entries.push(entry);
    if (this.#entries.length < MOST_HELD + REMOVED_AT_ONCE) return;
    for (const { key } of this.#entries.splice(0, REMOVED_AT_ONCE)) this.#byKey.delete(key);
  }

  #isMatch(entry) {
    if (entry.skipped) return !this.filtered;
    if (entry.filterNumber !== this.#filterNumber) {
      entry.filterNumber = this.#filterNumber;
      entry.isMatch = this.#matches(entry);
    }
    return entry.isMatch;
  }

  #matches(entry) {
    const { text, verdict, token } = this.#filter;
    if (token !== null && entry.token !== token) return false;
    if (verdict !== "" && entry.verdict !== verdict) return false;
    return text === "" || searchableText(entry).includes(text);
  }
}

function searchableText(entry) {
  const parts = [entry.token, entry.method, entry.path, entry.status, entry.reason, entry.text];
  return parts
    .filter((part) => part !== null && part !== undefined)
    .join("\n")
    .toLowerCase();
}
