// A list of any number of terms; only visible terms have elements.

import { element } from "../elements.js";
import { percent } from "../why.js";
import { describeDecision } from "./decisions.js";
import { number, t } from "../words.js";

const ROW_REMS = 3;
const SPARE = 6;
// The sign of a decision, and its text for screen readers.
const MARKS = { concept: ["✓", t("decided")], nil: ["∅", t("decided")], flag: ["⚑", t("flagged")] };
const TOGETHER = ["≈", t("with_others")];

export class TermList extends EventTarget {
  #box;
  #space;
  #rows = new Map();
  #waiting = false;
  #height;

  constructor(place, { queue, reviewer }) {
    super();
    this.queue = queue;
    this.reviewer = reviewer;
    this.current = null;
    this.#height = ROW_REMS * parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.#space = element("div", { class: "space" });
    this.#box = element("div", { class: "list", role: "listbox", tabindex: 0, "aria-labelledby": "queue-title" }, this.#space);
    place.append(this.#box);
    this.#box.addEventListener("keydown", (event) => this.#jump(event));
    this.#box.addEventListener("scroll", () => this.#drawSoon(), { passive: true });
    this.#space.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row) this.select(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.#drawSoon()).observe(this.#box);
    queue.addEventListener("rows", () => this.#drawAll());
    queue.addEventListener("more", () => this.#drawSoon());
    queue.addEventListener("term", ({ detail: id }) => {
      this.#rows.get(queue.place(id))?.remove();
      this.#rows.delete(queue.place(id));
      this.#drawSoon();
    });
  }

  get place() {
    return this.current === null ? -1 : this.queue.place(this.current);
  }

  get term() {
    return this.queue.rows[this.place];
  }

  focus() {
    this.#box.focus({ preventScroll: true });
  }

  // Visible terms.
  visible() {
    const [first, last] = this.#window(0);
    return this.queue.rows.slice(first, last);
  }

  move(step) {
    this.select(Math.max(0, Math.min(this.queue.rows.length - 1, this.place + step)));
  }

  select(place) {
    const term = this.queue.rows[place];
    if (!term) return;
    const before = this.place;
    this.current = term.id;
    for (const each of [before, place]) {
      this.#rows.get(each)?.remove();
      this.#rows.delete(each);
    }
    this.#scrollTo(place);
    this.#draw();
    this.dispatchEvent(new CustomEvent("select", { detail: term }));
  }

  // The standard keys of a list.
  #jump(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.queue.rows.length - 1;
    const page = Math.max(1, Math.floor(this.#box.clientHeight / this.#height) - 1);
    const places = { Home: 0, End: last, PageUp: this.place - page, PageDown: this.place + page };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.select(Math.max(0, Math.min(last, places[event.key])));
  }

  #scrollTo(place) {
    const top = place * this.#height;
    const room = this.#box.clientHeight;
    if (top < this.#box.scrollTop) this.#box.scrollTop = Math.max(0, top - this.#height);
    else if (top + this.#height > this.#box.scrollTop + room) this.#box.scrollTop = top + 2 * this.#height - room;
  }

  #window(spare) {
    const first = Math.floor(this.#box.scrollTop / this.#height) - spare;
    const last = Math.ceil((this.#box.scrollTop + this.#box.clientHeight) / this.#height) + spare;
    return [Math.max(0, first), Math.min(this.queue.rows.length, last)];
  }

  #drawAll() {
    this.#space.replaceChildren();
    this.#rows.clear();
    this.#drawSoon();
  }

  #drawSoon() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#draw();
      this.dispatchEvent(new CustomEvent("draw"));
    });
  }

  #draw() {
    this.#space.style.height = `${this.queue.total * this.#height}px`;
    const [first, last] = this.#window(SPARE);
    const current = this.place;
    for (const [place, row] of this.#rows) {
      if ((place < first || place >= last) && place !== current) {
        row.remove();
        this.#rows.delete(place);
      }
    }
    const wanted = Array.from({ length: Math.max(0, last - first) }, (_, step) => first + step);
    if (current >= 0 && (current < first || current >= last)) wanted.push(current);
    for (const place of wanted) {
      if (this.#rows.has(place)) continue;
      const row = this.#row(this.queue.rows[place], place, place === current);
      this.#rows.set(place, row);
      // Screen readers read elements in this order.
      this.#space.insertBefore(row, [...this.#space.children].find((other) => other.dataset.place > place) ?? null);
    }
    if (current >= 0) this.#box.setAttribute("aria-activedescendant", `term-${current}`);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  #row(term, place, isCurrent) {
    const row = element(
      "div",
      {
        id: `term-${place}`,
        class: "option",
        role: "option",
        "data-place": place,
        "aria-selected": isCurrent,
        "aria-posinset": place + 1,
        "aria-setsize": this.queue.total,
      },
      ...rowContent(term, this.reviewer()),
    );
    row.style.top = `${place * this.#height}px`;
    return row;
  }
}

function rowContent(term, reviewer) {
  const { [reviewer]: mine, ...others } = term.decisions;
  const said = Object.entries(others).filter(([, decision]) => decision.verdict !== "open");
  const differs = mine && mine.verdict !== "open" && said.some(([, decision]) => describeDecision(decision) !== describeDecision(mine));
  const decided = mine && mine.verdict !== "open";
  // The confidence is that of the first candidate.
  const other = decided && mine.targets[0]?.concept_id !== term.candidates[0]?.id;
  const sure = term.state === "linked" && !term.nil && !other;
  const [sign, spoken] = (mine?.origin === "accept" ? TOGETHER : MARKS[mine?.verdict]) ?? [];
  return [
    sign ? element("span", { class: "mark", role: "img", "aria-label": spoken, title: spoken }, sign) : element("span", { class: "mark" }),
    element("span", { class: "text", dir: "auto", ...(term.language && { lang: term.language }) }, term.text),
    element("span", { class: "number times" }, term.frequency > 1 ? `× ${number(term.frequency)}` : ""),
    element("span", { class: decided ? "best decided" : "best" }, decided ? describeDecision(mine) : best(term)),
    element("span", { class: "number sure" }, sure ? percent(term.confidence) : ""),
    said.length
      ? element("span", { class: differs ? "others differ" : "others" }, `${differs ? "≠ " : ""}${said.map(([name]) => name).join(", ")}`)
      : null,
  ];
}

function best(term) {
  if (term.state === "waiting") return t("not_linked_yet");
  if (term.state === "failed") return t("not_linked");
  if (term.nil) return t("probably_none");
  return term.candidates[0]?.name ?? t("none_similar");
}
