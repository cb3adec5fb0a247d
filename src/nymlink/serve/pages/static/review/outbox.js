// Sends decisions in order. The browser keeps decisions that could not be sent, and tries again.

import { Refused, Unreachable } from "../api.js";
import { forget, keysThatBegin, recall, remember } from "./stored.js";
import { t } from "../words.js";

const PAUSE = 2000;

// A decision refused with one of these is not sent again; other causes (full disk, missing token) may pass.
const FINAL = new Set([400, 404, 409, 413, 415, 422]);

export class Outbox extends EventTarget {
  #items = [];
  #running = false;
  #key;
  #wake = null;

  constructor(routes) {
    super();
    this.routes = routes;
    const prefix = `nymlink.unsaved.${routes.name}.`;
    this.#key = `${prefix}${Date.now()}.${Math.random()}`;
    for (const key of keysThatBegin(prefix)) {
      this.#items.push(...recall(key, []));
      forget(key);
    }
    this.#store();
  }

  get size() {
    return this.#items.length;
  }

  // Decisions that an earlier page kept.
  get decisions() {
    return this.#items.filter((item) => item.decision).map((item) => item.decision);
  }

  // decision: the body of the request.
  decide(decision) {
    this.#add({ decision });
  }

  undo(reviewer) {
    this.#add({ undo: reviewer });
  }

  // Drop the first decision, which the server refuses.
  giveUp() {
    const [item] = this.#items.splice(0, 1);
    this.#store();
    if (item) this.#tell("refused", { item, error: new Error(t("you_dropped")) });
    this.#wake?.();
  }

  async run() {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#items.length) await this.#sendFirst();
    } finally {
      this.#running = false;
    }
  }

  async #sendFirst() {
    const [item] = this.#items;
    try {
      const answer = item.decision ? await this.routes.decide(item.decision) : await this.routes.undo(item.undo);
      this.#remove(item);
      if (item.decision) this.#chain(item.decision, answer.decision.id);
      this.#tell("saved", { item, answer });
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
      // An undo may have been done though its answer was lost, and a second one would undo more.
      if (item.decision && (error instanceof Unreachable || !FINAL.has(error.status))) {
        this.#tell("waiting", { item, error });
        await new Promise((resolve) => {
          this.#wake = resolve;
          setTimeout(resolve, PAUSE);
        });
      } else {
        this.#remove(item);
        this.#tell("refused", { item, error });
      }
    }
  }

  // Later decisions on the same term build on this one.
  #chain(decision, id) {
    for (const { decision: later } of this.#items) {
      if (later?.term === decision.term && later.reviewer === decision.reviewer) later.expects = id;
    }
    this.#store();
  }

  #add(item) {
    this.#items.push(item);
    this.#store();
    this.run();
  }

  #remove(item) {
    const place = this.#items.indexOf(item);
    if (place >= 0) this.#items.splice(place, 1);
    this.#store();
  }

  // An undo is not kept after the page is closed; no decision is lost by that.
  #store() {
    const kept = this.#items.filter((item) => item.decision);
    if (kept.length) remember(this.#key, kept);
    else forget(this.#key);
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}
