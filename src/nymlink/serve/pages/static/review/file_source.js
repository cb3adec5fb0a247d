// Takes a file: dropped, chosen, or made of pasted rows.

import { button, element, labelled } from "../elements.js";
import { t } from "../words.js";

// Otherwise the browser would open a file dropped beside the field.
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());

// take(file): called with the file; label: key of the label.
export function fileSource(take, label = "drop_table") {
  const chosen = element("input", { type: "file" });
  const rows = element("textarea", { rows: 4, spellcheck: "false" });
  const pasted = element(
    "details",
    {},
    element("summary", {}, t("paste_rows")),
    labelled(t("paste_label"), rows),
    element("p", { class: "row" }, button(t("use_rows"), () => takeRows(rows.value), { class: "plain" })),
  );
  const zone = element(
    "div",
    { class: "drop" },
    labelled(t(label), chosen),
    element("p", { class: "hint" }, t("drop_hint")),
    pasted,
  );

  const takeRows = (text) => text.trim() && take(new File([text], t("pasted_rows")));
  chosen.addEventListener("change", () => {
    if (chosen.files.length) take(chosen.files[0]);
    // Otherwise choosing the same file again, after a correction, would do nothing.
    chosen.value = "";
  });
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", (event) => zone.contains(event.relatedTarget) || zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text/plain");
    if (file) take(file);
    else takeRows(text);
  });
  return zone;
}
