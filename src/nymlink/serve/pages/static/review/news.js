// Changes on the server: decisions of others, new links, and the summary.

const PAUSE = 2000;
const SUMMARY_PAUSE = 400;

export class News extends EventTarget {
  #asked = 0;
  #refreshing = false;

  // queue, list, details: receive the changes.
  constructor({ routes, queue, list, details }) {
    super();
    Object.assign(this, { routes, queue, list, details });
    this.summary = null;
  }

  get people() {
    return this.summary.reviewers.map(({ name }) => name);
  }

  async start() {
    this.#set(await this.routes.summary());
  }

  // Ask for the summary, once for several changes in a short time.
  summarySoon() {
    const mine = ++this.#asked;
    setTimeout(async () => {
      if (mine !== this.#asked) return;
      const found = await this.routes.summary().catch(() => null);
      if (found) this.#set(found);
    }, SUMMARY_PAUSE);
  }

  // Fetch links of visible terms that had none when the list was loaded.
  async refreshVisible() {
    if (this.#refreshing || !this.summary?.progress.done) return;
    this.#refreshing = true;
    for (const { id } of this.list.visible().filter(({ state }) => state === "waiting")) {
      this.details.forget(id);
      const found = await this.details.get(id).catch(() => null);
      if (!found || found.state === "waiting") break;
      const { state, confidence, margin, nil, candidates, parts, suggested } = found;
      this.queue.update(id, { state, confidence, margin, nil, candidates, parts, suggested });
    }
    this.#refreshing = false;
  }

  async watch() {
    let after = this.summary.last;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      // No message: decisions that cannot be saved give their own.
      const found = await this.routes.changes(after).catch(() => null);
      if (!found) continue;
      after = found.last;
      this.#take(found);
    }
  }

  #take({ decisions, progress }) {
    for (const { term, reviewer, decision } of decisions) {
      const present = this.queue.get(term)?.decisions[reviewer];
      if (present?.unsaved || present?.id === decision?.id) continue;
      this.details.forget(term);
      this.queue.setDecision(term, reviewer, decision);
    }
    if (decisions.length) this.summarySoon();
    const before = this.summary.progress;
    this.#set({ ...this.summary, progress });
    if (progress.done === before.done) return;
    if (progress.state === "done") this.dispatchEvent(new Event("linked"));
    else this.refreshVisible();
  }

  #set(summary) {
    this.summary = summary;
    this.dispatchEvent(new Event("summary"));
  }
}
