// The delivery that is open beside the list, and its actions.

import { keyOf } from "./deliveries.js";
import { detailView, failureView } from "./detail.js";
import { byId } from "./element.js";
import * as receiver from "./receiver.js";
import { askForReplay } from "./replay_dialog.js";

export class OpenDelivery {
  #box;
  #deliveries;
  #status;
  #onClose;
  #key = null;
  #delivery = null;
  #requests = 0;

  /** `status` shows short messages; `onClose()` is called when the user closes the delivery. */
  constructor({ box, deliveries, status, onClose }) {
    this.#box = box;
    this.#deliveries = deliveries;
    this.#status = status;
    this.#onClose = onClose;
  }

  get isOpen() {
    return this.#key !== null;
  }

  async open({ key, token, sequence }) {
    const isSame = key === this.#key;
    this.#key = key;
    this.#requests += 1;
    const request = this.#requests;
    const close = () => this.close();
    let view;
    try {
      const delivery = await receiver.delivery(token, sequence);
      if (request !== this.#requests) return;
      this.#delivery = delivery;
      const before = this.#deliveries.get(keyOf(token, sequence - 1));
      view = detailView(delivery, before, {
        close,
        copy: () => this.copy(),
        replay: () => this.replay(),
      });
    } catch (error) {
      if (request !== this.#requests) return;
      this.#delivery = null;
      view = failureView(error.message, close);
    }
    const scrolled = isSame ? this.#box.scrollTop : 0;
    this.#box.replaceChildren(view);
    this.#box.hidden = false;
    this.#box.scrollTop = scrolled;
    document.body.dataset.open = "";
  }

  /** Show a delivery again after it changed. */
  update(key) {
    if (key === this.#key) this.#reopen();
  }

  /** Show a delivery again after its token's secrets changed. */
  updateToken(token) {
    if (this.#delivery?.token === token) this.#reopen();
  }

  close() {
    this.#key = null;
    this.#delivery = null;
    this.#requests += 1;
    this.#box.hidden = true;
    delete document.body.dataset.open;
    this.#onClose();
  }

  async copy() {
    if (!this.#delivery) return;
    await navigator.clipboard.writeText(this.#delivery.curl).then(
      () => this.#showStatus("Copied as curl."),
      () => this.#showStatus("The browser does not allow this page to copy."),
    );
  }

  replay() {
    if (this.#delivery) askForReplay(byId("replay"), this.#delivery);
  }

  #reopen() {
    const entry = this.#deliveries.get(this.#key);
    if (entry) this.open(entry);
  }

  #showStatus(message) {
    this.#status.textContent = message;
    setTimeout(() => {
      if (this.#status.textContent === message) this.#status.textContent = "";
    }, 2500);
  }
}
