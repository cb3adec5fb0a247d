// Apply the decisions of a project to another release of its vocabulary, or to another index.

import { ask } from "../api.js";
import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

// index: what the project was linked to; done(): its decisions are applied.
export async function rebaseDialog({ routes, index, done }) {
  const { line, say } = statusLine();
  const { indexes } = await ask("/indexes");
  const wanted = choice(indexes.map(({ name }) => name), index.served_as ?? indexes[0].name, { id: "release" });
  const apply = button("Apply", run);
  const dialog = openDialog(
    "Another release",
    element("p", {}, `It was linked to ${index.name}: ${index.sources}.`),
    labelled("Apply its decisions to", wanted),
    element("p", { class: "hint" }, "Terms whose concept is gone, obsolete, replaced or renamed there, or that have a better candidate, are listed as changed."),
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
