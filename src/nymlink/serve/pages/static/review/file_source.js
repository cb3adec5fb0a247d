// Takes a file: dropped, chosen, or made of pasted rows.

import { button, element, labelled } from "../elements.js";

// Otherwise the browser would open a file dropped beside the field.
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());

// take(file): called with the file; what: a noun for the label.
export function fileSource(take, what = "a table") {
  const chosen = element("input", { type: "file" });
  const rows = element("textarea", { rows: 4, spellcheck: "false" });
  const pasted = element(
    "details",
    {},
    element("summary", {}, "Paste rows instead"),
    labelled("Rows, as copied from a spreadsheet, or one term per line", rows),
    element("p", { class: "row" }, button("Use these rows", () => takeRows(rows.value), { class: "plain" })),
  );
  const zone = element(
    "div",
    { class: "drop" },
    labelled(`Drop ${what} here, or choose it:`, chosen),
    element("p", { class: "hint" }, "CSV, TSV, XLSX, Usagi, SSSOM, or one term per line. The format is recognised by content."),
    pasted,
  );

  const takeRows = (text) => text.trim() && take(new File([text], "pasted rows"));
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
