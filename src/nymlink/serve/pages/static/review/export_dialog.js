// Export what was decided, in any format of links, as a file of the browser.

import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { saveFile } from "./save_file.js";

// What the tables themselves are written as, then mappings of terms.
const FORMATS = [
  ["tsv", "TSV: the tables as they were, with concepts"],
  ["csv", "CSV"],
  ["xlsx", "XLSX"],
  ["jsonl", "JSON lines, with all that is known"],
  ["parquet", "Parquet"],
  ["sssom", "SSSOM"],
  ["usagi", "Usagi"],
  ["source-to-concept-map", "OMOP source_to_concept_map"],
  ["fhir-r5", "FHIR R5 ConceptMap"],
  ["fhir-r4b", "FHIR R4B ConceptMap"],
];

export function exportDialog({ routes }) {
  const format = choice(FORMATS, "tsv", { id: "format" });
  const decided = element("input", { type: "checkbox", id: "decided" });
  const { line, say } = statusLine();
  openDialog(
    "Export",
    labelled("Format", format),
    element("label", { class: "check" }, decided, " Only what is decided"),
    element("p", { class: "hint" }, "Terms that nobody has decided have their first candidate, and are said to be not reviewed."),
    line,
    element("p", { class: "row" }, button("Export", run)),
  );

  async function run() {
    say("Writing …");
    try {
      const { name, warnings } = await saveFile(routes.exportAddress({ format: format.value, decided: decided.checked }));
      say([`${name} is written.`, ...warnings].join(" "));
    } catch (error) {
      say(error.message);
    }
  }
}
