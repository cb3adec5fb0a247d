// Export what was decided, in any format of links, as a file of the browser.

import { Refused, Unreachable } from "../api.js";
import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";

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
      const { name, content, warnings } = await download(routes.exportAddress({ format: format.value, decided: decided.checked }));
      const link = element("a", { href: URL.createObjectURL(content), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      say([`${name} is written.`, ...warnings].join(" "));
    } catch (error) {
      say(error.message);
    }
  }
}

// A link alone would save an error as if it were the file.
async function download(address) {
  const answer = await fetch(address).catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  const [, name] = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [];
  const warnings = decodeURIComponent(answer.headers.get("X-Warnings") ?? "");
  return { name: name ?? "export", content: await answer.blob(), warnings: warnings.split("\n").filter(Boolean) };
}
