// Searches the whole vocabulary during typing. A picked concept is taken like a candidate.

import { ask } from "../api.js";
import { element } from "../elements.js";
import { query } from "./routes.js";

const SHOWN = 12;
const PAUSE = 120;

export class VocabularySearch {
  #asked = 0;
  #found = [];
  #active = -1;

  // index: name of the index; take(concept): called with the picked concept; leave(): called at the end of the search.
  constructor({ index, take, leave, say }) {
    Object.assign(this, { index, take, leave, say });
    this.input = element("input", {
      id: "search",
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-autocomplete": "list",
    });
    this.list = element("ul", { id: "found", role: "listbox", "aria-label": "Concepts that match", class: "found-concepts" });
    this.place = element("div", { class: "search" }, element("label", { for: "search" }, "Search the whole vocabulary"), this.input, this.list);
    this.input.addEventListener("input", () => this.#searchSoon());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#pick([...this.list.children].indexOf(option));
    });
  }

  clear() {
    this.#asked += 1;
    this.input.value = "";
    this.#show([]);
  }

  #searchSoon() {
    const mine = ++this.#asked;
    setTimeout(() => mine === this.#asked && this.#search(mine), PAUSE);
  }

  async #search(mine) {
    const typed = this.input.value.trim();
    if (!typed) return this.#show([]);
    try {
      const { results } = await ask(`/search?${query({ q: typed, index: this.index, limit: SHOWN })}`);
      if (mine === this.#asked) this.#show(results);
      if (mine === this.#asked && !results.length) this.say(`No name or id begins with “${typed}”.`);
    } catch (error) {
      if (mine === this.#asked) this.say(error.message);
    }
  }

  #show(found) {
    this.#found = found;
    this.list.replaceChildren(...found.map(option));
    this.input.setAttribute("aria-expanded", found.length > 0);
    this.#activate(found.length ? 0 : -1);
  }

  #activate(place) {
    this.#active = place;
    for (const [each, row] of [...this.list.children].entries()) row.setAttribute("aria-selected", each === place);
    if (place >= 0) this.input.setAttribute("aria-activedescendant", `found-${place}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[place]?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const size = this.#found.length;
    if (event.key === "ArrowDown" && size) this.#activate((this.#active + 1) % size);
    else if (event.key === "ArrowUp" && size) this.#activate((this.#active + size - 1) % size);
    else if (event.key === "Enter") this.#pick(this.#active);
    else if (event.key === "Escape") {
      this.clear();
      this.leave();
    } else return;
    event.preventDefault();
  }

  #pick(place) {
    const found = this.#found[place];
    if (!found) return;
    this.clear();
    this.leave();
    this.take({ id: found.concept_id, name: found.concept_name });
  }
}

function option({ concept_id: id, concept_name: name, matched }, place) {
  const by = matched && matched.text !== name ? element("span", { class: "why" }, ` by ${matched.text} (${matched.lang})`) : null;
  return element("li", { id: `found-${place}`, role: "option" }, element("span", { class: "name" }, name), " ", element("span", { class: "id" }, id), by);
}
