// The terms under review, in the order of loading: decided terms keep their place.

const AT_ONCE = 500;

export class Queue extends EventTarget {
  #asked = 0;
  #places = new Map();

  constructor(routes) {
    super();
    this.routes = routes;
    this.rows = [];
    this.total = 0;
  }

  // Load again; the old terms stay until the first new ones arrive.
  async load(filters) {
    const mine = ++this.#asked;
    let offset = 0;
    let before = null;
    for (;;) {
      const page = await this.routes.terms({ ...filters, limit: AT_ONCE, offset });
      if (mine !== this.#asked) return false;
      const first = before === null;
      if (first) {
        this.rows = [];
        this.#places.clear();
      }
      for (const term of page.terms) {
        if (this.#places.has(term.id)) continue;
        this.#places.set(term.id, this.rows.length);
        this.rows.push(term);
      }
      // Terms decided in the meantime have left the list on the server, and later terms have moved up.
      offset += page.terms.length - Math.max(0, (before ?? page.total) - page.total);
      before = page.total;
      const done = !page.terms.length || offset >= page.total;
      this.total = done ? this.rows.length : Math.max(page.total, this.rows.length);
      this.#tell(first ? "rows" : "more");
      if (done) return true;
    }
  }

  place(id) {
    return this.#places.get(id) ?? -1;
  }

  get(id) {
    return this.rows[this.place(id)];
  }

  // Change fields of a term, if the queue has it.
  update(id, values) {
    const term = this.get(id);
    if (!term) return;
    Object.assign(term, values);
    this.#tell("term", id);
  }

  // Set the decision of a reviewer on a term; null for none.
  setDecision(id, reviewer, decision) {
    const term = this.get(id);
    if (!term) return;
    term.decisions = { ...term.decisions, [reviewer]: decision };
    if (!decision) delete term.decisions[reviewer];
    this.#tell("term", id);
  }

  // Place of the next term without a decision of the reviewer (of anyone, for null), searched after a place
  // and then from the top; -1 for none.
  nextOpen(after, reviewer) {
    const size = this.rows.length;
    for (let step = 1; step <= size; step += 1) {
      const place = (after + step) % size;
      if (isOpen(this.rows[place], reviewer)) return place;
    }
    return -1;
  }

  // kind: "rows", all terms changed; "more", terms were added; "term", one term changed.
  #tell(kind, id) {
    this.dispatchEvent(new CustomEvent(kind, { detail: id }));
  }
}

function isOpen(term, reviewer) {
  const said = reviewer === null ? Object.values(term.decisions) : [term.decisions[reviewer]];
  return said.every((decision) => !decision || decision.verdict === "open");
}
