// A dialog over the page. Escape closes it and returns the focus.

import { button, element } from "../elements.js";
import { t } from "../words.js";

export function openDialog(title, ...content) {
  const dialog = element(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    element("h2", { id: "dialog-title" }, title),
    ...content,
    element("p", { class: "row" }, button(t("close"), () => dialog.close(), { class: "plain close" })),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// A line of a dialog for messages.
export function statusLine() {
  const line = element("p", { role: "status", "aria-live": "polite" });
  return { line, say: (message) => (line.textContent = message) };
}
