// Details of terms, fetched for the selected term and, in advance, for the next.

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
    // Ask again after a failure.
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
