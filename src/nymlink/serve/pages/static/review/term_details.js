// All that is known of a term, fetched when it is looked at, and of the next before that.

const KEPT = 50;

export class TermDetails {
  #kept = new Map();

  constructor(routes) {
    this.routes = routes;
  }

  get(id) {
    const known = this.#kept.get(id);
    if (known) return known;
    const asked = this.routes.term(id);
    this.#kept.set(id, asked);
    // What failed is asked for again.
    asked.catch(() => this.#kept.delete(id));
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value);
    return asked;
  }

  forget(id) {
    this.#kept.delete(id);
  }

  clear() {
    this.#kept.clear();
  }
}
