// Shows and changes the keys.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { t } from "../words.js";

// changed(): called when a key changes.
export function keysDialog({ keys, changed }) {
  const { line, say } = statusLine();
  const table = element("tbody");
  const enabled = element("input", { type: "checkbox", id: "keys-on" });
  enabled.checked = keys.enabled;
  enabled.addEventListener("change", () => {
    keys.enabled = enabled.checked;
    say(enabled.checked ? t("keys_on") : t("keys_off"));
  });
  const dialog = openDialog(
    t("keys"),
    element("label", { class: "check" }, enabled, ` ${t("use_single_keys")}`),
    element("p", { class: "hint" }, t("keys_hint")),
    line,
    element("table", { class: "keys" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, t("head_what")), element("th", { scope: "col" }, t("head_key")))), table),
    element("p", { class: "row" }, button(t("keys_restore"), reset, { class: "plain" })),
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
    say(event.key === "Escape" ? t("key_unchanged") : t("key_is_now", { key: keys.shown(action) }));
    changed();
  });
  dialog.addEventListener("cancel", (event) => waiting && event.preventDefault());
  draw();

  function draw(focused) {
    table.replaceChildren(...keys.list().map(row));
    table.querySelector(`[data-action="${focused}"]`)?.focus();
  }

  function row({ action, description, key }) {
    const set = button(element("kbd", {}, key), () => wait(action, set), { class: "plain", "data-action": action, "aria-label": t("key_change", { what: description, key }) });
    return element("tr", {}, element("td", {}, description), element("td", {}, set));
  }

  function wait(action, set) {
    waiting = action;
    set.textContent = t("press_a_key");
    say(t("press_new_key"));
  }

  function reset() {
    keys.reset();
    draw();
    changed();
    say(t("keys_restored"));
  }
}
