// The delivery that is open beside the list, and what can be done with it.

import { keyOf } from "./deliveries.js";
import { detailView, failureView } from "./detail.js";
import { byId } from "./element.js";
import * as receiver from "./receiver.js";
import { askForReplay } from "./replay_dialog.js";

export class Opened {
  #box;
  #deliveries;
  #said;
  #closed;
  #key = null;
  #delivery = null;
  #asked = 0;

  /** `said` tells short news to everybody; `closed()` is called when the reader closes the delivery. */
  constructor({ box, deliveries, said, closed }) {
    this.#box = box;
    this.#deliveries = deliveries;
    this.#said = said;
    this.#closed = closed;
  }

  get isOpen() {
    return this.#key !== null;
  }

  async open({ key, token, sequence }) {
    const again = key === this.#key;
    this.#key = key;
    this.#asked += 1;
    const asked = this.#asked;
    const close = () => this.close();
    let view;
    try {
      const delivery = await receiver.delivery(token, sequence);
      if (asked !== this.#asked) return;
      this.#delivery = delivery;
      const before = this.#deliveries.get(keyOf(token, sequence - 1));
      view = detailView(delivery, before, { close, copy: () => this.copy(), replay: () => this.replay() });
    } catch (error) {
      if (asked !== this.#asked) return;
      this.#delivery = null;
      view = failureView(error.message, close);
    }
    const scrolled = again ? this.#box.scrollTop : 0;
    this.#box.replaceChildren(view);
    this.#box.hidden = false;
    this.#box.scrollTop = scrolled;
    document.body.dataset.open = "";
  }

  /** More is known of a delivery now. */
  changed(key) {
    if (key === this.#key) this.#reopen();
  }

  /** The deliveries of a token may have another verdict now. */
  judgedAnew(token) {
    if (this.#delivery?.token === token) this.#reopen();
  }

  close() {
    this.#key = null;
    this.#delivery = null;
    this.#asked += 1;
    this.#box.hidden = true;
    delete document.body.dataset.open;
    this.#closed();
  }

  async copy() {
    if (!this.#delivery) return;
    await navigator.clipboard.writeText(this.#delivery.curl).then(
      () => this.#say("Copied as curl."),
      () => this.#say("The browser does not let this page copy."),
    );
  }

  replay() {
    if (this.#delivery) askForReplay(byId("replay"), this.#delivery);
  }

  #reopen() {
    const entry = this.#deliveries.get(this.#key);
    if (entry) this.open(entry);
  }

  #say(words) {
    this.#said.textContent = words;
    setTimeout(() => {
      if (this.#said.textContent === words) this.#said.textContent = "";
    }, 2500);
  }
}
