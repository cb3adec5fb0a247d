// Exports decisions to a file, in any format of links.

import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { count } from "./preview.js";
import { fetchText, saveFile } from "./save_file.js";

// Formats of the tables, then formats of mappings.
const FORMATS = [
  ["tsv", "TSV: the tables with added concepts"],
  ["csv", "CSV"],
  ["xlsx", "XLSX"],
  ["jsonl", "JSON lines, with all details"],
  ["parquet", "Parquet"],
  ["sssom", "SSSOM"],
  ["usagi", "Usagi"],
  ["source-to-concept-map", "OMOP source_to_concept_map"],
  ["fhir-r5", "FHIR R5 ConceptMap"],
  ["fhir-r4b", "FHIR R4B ConceptMap"],
];

const BINARY = ["xlsx", "parquet"];
const SHOWN = 10;

// formats: names of the formats that fit the vocabulary.
export function exportDialog({ routes, formats }) {
  const format = choice(FORMATS.filter(([name]) => formats.includes(name)), "tsv", { id: "format" });
  const guesses = element("input", { type: "checkbox", id: "guesses" });
  const { line, say } = statusLine();
  const shown = element("pre", { class: "preview", tabindex: 0, dir: "auto", "aria-label": "The beginning of the file", hidden: "" });
  const requests = element("p", { class: "row" });
  openDialog(
    "Export",
    labelled("Format", format),
    element("label", { class: "check" }, guesses, " Also guesses"),
    element("p", { class: "hint" }, "Guesses are the first candidates of undecided terms. The file marks them as guesses."),
    line,
    shown,
    element("p", { class: "row" }, button("Export", run), button("Show the beginning", preview, { class: "plain" })),
    requests,
  );
  routes.ownConcepts().then((own) => own.length && requests.append(
    `Requests for ${count(own.length, "added concept")}:`,
    element("a", { href: routes.requestsAddress("issue"), download: "requests.md" }, "texts of issues"),
    element("a", { href: routes.requestsAddress("robot"), download: "requests.tsv" }, "template of ROBOT"),
  ), () => {});

  // The first rows, as text; of a workbook and of Parquet, as TSV.
  async function preview() {
    try {
      const kind = BINARY.includes(format.value) ? "tsv" : format.value;
      shown.textContent = await fetchText(routes.exportAddress({ format: kind, guesses: guesses.checked, limit: SHOWN }));
      shown.hidden = false;
    } catch (error) {
      say(error.message);
    }
  }

  async function run() {
    say("Writing …");
    try {
      const { name, warnings } = await saveFile(routes.exportAddress({ format: format.value, guesses: guesses.checked }));
      say([`${name} is saved.`, ...warnings].join(" "));
    } catch (error) {
      say(error.message);
    }
  }
}
