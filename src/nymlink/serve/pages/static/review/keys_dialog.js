// Shows and changes the keys.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

// changed(): called when a key changes.
export function keysDialog({ keys, changed }) {
  const { line, say } = statusLine();
  const table = element("tbody");
  const enabled = element("input", { type: "checkbox", id: "keys-on" });
  enabled.checked = keys.enabled;
  enabled.addEventListener("change", () => {
    keys.enabled = enabled.checked;
    say(enabled.checked ? "Single keys are on." : "Single keys are off: use the buttons.");
  });
  const dialog = openDialog(
    "Keys",
    element("label", { class: "check" }, enabled, " Use single keys"),
    element("p", { class: "hint" }, "To change a key, press its button, then the new key."),
    line,
    element("table", { class: "keys" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "What"), element("th", { scope: "col" }, "Key"))), table),
    element("p", { class: "row" }, button("Restore the default keys", reset, { class: "plain" })),
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
    say(event.key === "Escape" ? "The key is unchanged." : `The key is now ${keys.shown(action)}.`);
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
    say("Press the new key, or Escape to keep the old one.");
  }

  function reset() {
    keys.reset();
    draw();
    changed();
    say("The default keys are restored.");
  }
}
