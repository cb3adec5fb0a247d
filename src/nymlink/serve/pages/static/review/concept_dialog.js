// Adds a concept to the project, for a term whose meaning the vocabulary lacks, and decides the term with it.

import { element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { t } from "../words.js";

const SHOWN = 10;

// term: the term under review; candidates: of the term, as broader concepts to choose from; take(concept): decides.
export function conceptDialog({ routes, reviewer, term, candidates, take }) {
  const field = (id, attributes = {}) => element("input", { id, maxlength: 1000, autocomplete: "off", ...attributes });
  const name = field("concept-name", { required: "" });
  name.value = term.text;
  const synonyms = element("textarea", { id: "concept-synonyms", rows: 2 });
  const parent = field("concept-parent", { list: "concept-parents", placeholder: t("name_or_id") });
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
  const add = element("button", { type: "submit" }, t("add_and_decide"));
  const form = element(
    "form",
    { class: "fields-down" },
    labelled(t("head_name"), name),
    labelled(t("other_names_lines"), synonyms),
    labelled(t("broader_concept"), parent),
    parents,
    chosen,
    labelled(t("definition"), definition),
    line,
    element("p", { class: "row" }, add),
  );
  const dialog = openDialog(
    t("add_concept_title"),
    element("p", {}, t("add_concept_lead")),
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
