// Searches the whole vocabulary during typing, and shows it as a tree. A picked concept is taken like a candidate.

import { button, choice, element } from "../elements.js";
import { conceptOf } from "../why.js";
import { Choices } from "./choices.js";
import { languageName, t } from "../words.js";

const SHOWN = 12;
const PAUSE = 120;
const MOST_ABOVE = 40;

export class VocabularySearch {
  #asked = 0;
  // The question whose results are shown, and the question whose results are on their way.
  #shown = null;
  #coming = null;

  // index: name of the index; parts: types and branches to search in; from(): the selected candidate, or null;
  // take(concept): called with the picked concept; leave(): called at the end; covers(whether): candidates are covered.
  constructor({ routes, index, parts, from, take, leave, covers, say }) {
    Object.assign(this, { routes, index, from, take, leave, covers, say });
    this.input = element("input", {
      id: "search",
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: t("search_hint"),
      "aria-label": t("search_label"),
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-autocomplete": "list",
    });
    this.within = choice([["", t("everywhere")], ...parts.map(({ id, name }) => [id, name])], "", { id: "within", "aria-label": t("search_in") });
    const pick = (concept) => this.#pick(concept);
    this.found = new Choices({ id: "found", label: t("concepts_that_match"), index, take: pick });
    this.tree = new Choices({ id: "tree", label: t("tree_of_concepts"), index, take: pick, role: "tree", open: (row) => this.#below(row), moved: () => this.tree.list.focus() });
    this.tree.list.setAttribute("tabindex", 0);
    this.place = element("div", { class: "search", role: "search" }, this.input, this.within, button(t("tree"), () => this.showTree(), { class: "plain small" }));
    this.lists = element("div", {}, this.found.list, this.tree.list);
    this.input.addEventListener("input", () => this.#searchSoon());
    this.within.addEventListener("change", () => {
      this.#search();
      this.input.focus();
    });
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.tree.list.addEventListener("keydown", (event) => this.#treeKey(event));
    this.#show([], null);
  }

  clear() {
    this.#asked += 1;
    this.input.value = "";
    this.#show([], null);
  }

  // Show the place of a concept in the hierarchy; without one, that of the selected candidate.
  async showTree(concept = this.found.selected ?? this.from()) {
    if (!this.index) return this.say(t("not_served"));
    try {
      const known = concept?.id ? concept : { id: this.within.value || this.within.options[1]?.value };
      const above = await this.#above(known.id);
      this.clear();
      this.roots = [above[0]];
      this.#drawTree(known.id);
      this.tree.list.focus();
    } catch (error) {
      this.say(error.message);
    }
  }

  #searchSoon() {
    const mine = ++this.#asked;
    this.#coming = null;
    this.#noteActive();
    setTimeout(() => mine === this.#asked && this.#search(), PAUSE);
  }

  async #search() {
    const mine = ++this.#asked;
    const typed = this.input.value.trim();
    if (!typed) return this.#show([], null);
    const question = this.#question;
    this.#coming = question;
    this.#noteActive();
    try {
      const { results } = await this.routes.search({ q: typed, within: this.within.value, limit: SHOWN });
      if (mine !== this.#asked) return;
      this.#show(results, question);
      this.say(results.length ? "" : t("nothing_like", { text: typed }));
    } catch (error) {
      if (mine !== this.#asked) return;
      this.#coming = null;
      this.say(error.message);
    }
  }

  #show(found, question) {
    this.#shown = question;
    this.#coming = null;
    const rows = found.map(({ concept_id: id, concept_name: name, matched }) => ({ id, name, reason: matched ? by(matched, name) : t("its_id") }));
    this.tree.show([]);
    this.found.show(rows, rows.length ? 0 : -1);
    this.#noteActive();
    this.input.setAttribute("aria-expanded", rows.length > 0);
    this.covers(rows.length > 0);
  }

  // What is asked now: the text, and where to search.
  get #question() {
    return `${this.within.value}\n${this.input.value.trim()}`;
  }

  // Whether the results are of an older question: they are shown pale, and no key takes them.
  get #isOld() {
    return this.found.rows.length > 0 && this.#question !== this.#shown;
  }

  #noteActive() {
    const { active } = this.found;
    this.found.list.setAttribute("aria-busy", this.#isOld);
    if (active >= 0 && !this.#isOld) this.input.setAttribute("aria-activedescendant", `found-${active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.found.move(event.key === "ArrowDown" ? 1 : -1);
      this.#noteActive();
    } else if (event.key === "Enter") this.#enter();
    else if (event.key === "Escape") {
      this.clear();
      this.leave();
    } else return;
    event.preventDefault();
  }

  // Take only what was found for the question that is there now: somebody saw it.
  #enter() {
    const question = this.#question;
    if (question === this.#shown && this.found.selected) return this.#pick(this.found.selected);
    if (!this.input.value.trim()) return this.leave();
    if (question !== this.#shown) this.say(t("searching"));
    return question === this.#coming ? undefined : this.#search();
  }

  #pick(concept) {
    this.clear();
    this.leave();
    this.take({ id: concept.id, name: concept.name });
  }

  // The concepts from the top of the hierarchy to a concept, by first parents, each with its children.
  async #above(id) {
    const path = [];
    for (let next = id; next && path.length < MOST_ABOVE; ) {
      const concept = await conceptOf(this.index, next);
      const below = path[0];
      const node = { id: concept.id, name: concept.name, total: concept.children_count, open: Boolean(below) };
      node.children = concept.children.map((child) => (child.id === below?.id ? below : { ...child }));
      if (path.some((each) => each.id === node.id)) break;
      path.unshift(node);
      next = concept.parents[0]?.id;
    }
    return path;
  }

  // Draw the open nodes, and select a concept.
  #drawTree(id) {
    const rows = [];
    const add = (node, level, parent) => {
      const has = node.children === undefined || node.children.length > 0;
      rows.push({ id: node.id, name: node.name, node, parent, level, sign: has ? (node.open ? "▾" : "▸") : "", ...(has && { expanded: Boolean(node.open) }) });
      if (node.open) for (const child of node.children) add(child, level + 1, node.id);
    };
    for (const root of this.roots) add(root, 1, null);
    this.found.show([]);
    this.covers(true);
    this.tree.show(rows, Math.max(0, rows.findIndex((row) => row.id === id)));
    this.tree.list.setAttribute("aria-activedescendant", `tree-${this.tree.active}`);
  }

  #below(row) {
    return [
      " ",
      button(t("search_below"), () => {
        if (![...this.within.options].some(({ value }) => value === row.id)) this.within.append(new Option(t("below", { name: row.name }), row.id));
        this.clear();
        this.within.value = row.id;
        this.input.focus();
      }, { class: "plain small" }),
    ];
  }

  async #treeKey(event) {
    const { selected } = this.tree;
    if (!selected || event.target.closest("button, a")) return;
    const { key } = event;
    const known = ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Enter", "Escape"].includes(key);
    if (!known) return;
    event.preventDefault();
    if (key === "ArrowDown" || key === "ArrowUp") {
      this.tree.move(key === "ArrowDown" ? 1 : -1);
      this.tree.list.setAttribute("aria-activedescendant", `tree-${this.tree.active}`);
    } else if (key === "Enter") this.#pick(selected);
    else if (key === "Escape") {
      this.clear();
      this.leave();
    } else await this.#openNode(selected, key === "ArrowRight");
  }

  async #openNode({ id, node, parent }, open) {
    if (!open && !node.open) return parent && this.#drawTree(parent);
    try {
      if (open && !node.children) node.children = (await conceptOf(this.index, id)).children.map((child) => ({ ...child }));
      node.open = open && node.children.length > 0;
      this.#drawTree(id);
    } catch (error) {
      this.say(error.message);
    }
  }
}

function by({ text, lang, source }, name) {
  const foreign = ["en", "und"].includes(lang) ? "" : ` (${languageName(lang)})`;
  if (source === "project") return text === name ? t("added_to_project") : t("added_to_project_as", { name: text });
  if (source === "decisions") return t("you_named_it", { name: text });
  return text === name ? "" : `${text}${foreign}`;
}
