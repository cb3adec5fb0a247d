// Applies the decisions of a project to another release of its vocabulary, or to another index.

import { ask } from "../api.js";
import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { t } from "../words.js";

// index: the present index of the project; done(): called when the decisions are applied.
export async function rebaseDialog({ routes, index, done }) {
  const { line, say } = statusLine();
  const { indexes } = await ask("/indexes");
  const wanted = choice(indexes.map(({ name }) => name), index.served_as ?? indexes[0].name, { id: "release" });
  const apply = button(t("apply"), run);
  const dialog = openDialog(
    t("another_release"),
    element("p", {}, t("was_linked_to", { name: index.name, sources: index.sources })),
    labelled(t("apply_to"), wanted),
    element("p", { class: "hint" }, t("apply_hint")),
    line,
    element("p", { class: "row" }, apply),
  );

  async function run() {
    apply.disabled = true;
    say(t("comparing"));
    try {
      await routes.rebase(wanted.value);
      dialog.close();
      done();
    } catch (error) {
      say(error.message);
      apply.disabled = false;
    }
  }
}
