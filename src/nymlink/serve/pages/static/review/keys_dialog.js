// Show the keys, and let each be another.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

// changed(): keys are others.
export function keysDialog({ keys, changed }) {
  const { line, say } = statusLine();
  const table = element("tbody");
  const enabled = element("input", { type: "checkbox", id: "keys-on" });
  enabled.checked = keys.enabled;
  enabled.addEventListener("change", () => {
    keys.enabled = enabled.checked;
    say(enabled.checked ? "Keys decide." : "Keys do nothing: use the buttons.");
  });
  const dialog = openDialog(
    "Keys",
    element("label", { class: "check" }, enabled, " Single keys decide"),
    element("p", { class: "hint" }, "Press a button of the list, then the key that shall do it."),
    line,
    element("table", { class: "keys" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "What"), element("th", { scope: "col" }, "Key"))), table),
    element("p", { class: "row" }, button("Keys as they were at first", reset, { class: "plain" })),
  );
  let waiting = null;
  dialog.addEventListener("keydown", (event) => {
    if (!waiting) return;
    event.preventDefault();
    event.stopPropagation();
    const action = waiting;
    if (event.key !== "Escape" && !keys.remap(action, event.key)) return;
    waiting = null;
    draw(action);
    say(event.key === "Escape" ? "It is as it was." : `It is ${keys.shown(action)} now.`);
    changed();
  });
  dialog.addEventListener("cancel", (event) => waiting && event.preventDefault());
  draw();

  function draw(focused) {
    table.replaceChildren(...keys.list().map(row));
    table.querySelector(`[data-action="${focused}"]`)?.focus();
  }

  function row({ action, description, key }) {
    const set = button(element("kbd", {}, key), () => wait(action, set), { class: "plain", "data-action": action, "aria-label": `${description}: ${key}. Change` });
    return element("tr", {}, element("td", {}, description), element("td", {}, set));
  }

  function wait(action, set) {
    waiting = action;
    set.textContent = "press a key …";
    say("Press the key; Escape leaves it as it is.");
  }

  function reset() {
    keys.reset();
    draw();
    changed();
    say("All keys are as they were at first.");
  }
}
