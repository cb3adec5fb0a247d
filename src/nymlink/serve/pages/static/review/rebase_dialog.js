// Applies the decisions of a project to another release of its vocabulary, or to another index.

import { ask } from "../api.js";
import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

// index: the present index of the project; done(): called when the decisions are applied.
export async function rebaseDialog({ routes, index, done }) {
  const { line, say } = statusLine();
  const { indexes } = await ask("/indexes");
  const wanted = choice(indexes.map(({ name }) => name), index.served_as ?? indexes[0].name, { id: "release" });
  const apply = button("Apply", run);
  const dialog = openDialog(
    "Another release",
    element("p", {}, `The project was linked to ${index.name}: ${index.sources}.`),
    labelled("Apply its decisions to", wanted),
    element("p", { class: "hint" }, "A term is listed as changed if its concept is gone, obsolete, replaced or renamed, or if another candidate is now better."),
    line,
    element("p", { class: "row" }, apply),
  );

  async function run() {
    apply.disabled = true;
    say("Comparing …");
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
