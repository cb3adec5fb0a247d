// Adds a concept to the project, for a term whose meaning the vocabulary lacks, and decides the term with it.

import { element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

const SHOWN = 10;

// term: the term under review; candidates: of the term, as broader concepts to choose from; take(concept): decides.
export function conceptDialog({ routes, reviewer, term, candidates, take }) {
  const field = (id, attributes = {}) => element("input", { id, maxlength: 1000, autocomplete: "off", ...attributes });
  const name = field("concept-name", { required: "" });
  name.value = term.text;
  const synonyms = element("textarea", { id: "concept-synonyms", rows: 2 });
  const parent = field("concept-parent", { list: "concept-parents", placeholder: "name or id" });
  const parents = element("datalist", { id: "concept-parents" });
  const definition = element("textarea", { id: "concept-definition", rows: 3, maxlength: 1000 });
  const { line, say } = statusLine();
  const known = new Map();
  const offer = (found) => {
    for (const each of found) known.set(each.id, each.name);
    parents.replaceChildren(...found.map(({ id, name: called }) => new Option(called, id)));
  };
  const chosen = element("p", { class: "hint" });
  offer(candidates);
  parent.addEventListener("input", async () => {
    const typed = parent.value.trim();
    chosen.textContent = known.get(typed) ?? "";
    if (!typed || known.has(typed)) return;
    const { results } = await routes.search({ q: typed, limit: SHOWN }).catch(() => ({ results: [] }));
    if (typed !== parent.value.trim()) return;
    offer(results.map(({ concept_id: id, concept_name: called }) => ({ id, name: called })));
    chosen.textContent = known.get(typed) ?? "";
  });
  const add = element("button", { type: "submit" }, "Add and decide");
  const form = element(
    "form",
    { class: "fields-down" },
    labelled("Name", name),
    labelled("Other names, one a line", synonyms),
    labelled("Broader concept", parent),
    parents,
    chosen,
    labelled("Definition", definition),
    line,
    element("p", { class: "row" }, add),
  );
  const dialog = openDialog(
    "Add a concept",
    element("p", {}, "For a meaning that the vocabulary lacks. The concept belongs to this project: the search finds it, and it is a candidate of terms that are linked later. Export writes requests for it to the maintainers of the vocabulary."),
    form,
  );
  name.select();
  form.addEventListener("input", () => say(""));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    add.disabled = true;
    try {
      const added = await routes.addConcept({
        name: name.value,
        synonyms: synonyms.value.split("\n").filter((each) => each.trim()),
        parents: parent.value.trim() ? [parent.value.trim()] : [],
        definition: definition.value,
        reviewer,
      });
      dialog.close();
      take({ id: added.id, name: added.name });
    } catch (error) {
      say(error.message);
      add.disabled = false;
    }
  });
}
