// Exports decisions to a file, in any format of links.

import { button, choice, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { fetchText, saveFile } from "./save_file.js";
import { t } from "../words.js";

// Formats of the tables, then formats of mappings.
const FORMATS = [
  ["tsv", t("format_tsv")],
  ["csv", "CSV"],
  ["xlsx", "XLSX"],
  ["jsonl", t("format_jsonl")],
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
  const shown = element("pre", { class: "preview", tabindex: 0, dir: "auto", "aria-label": t("file_beginning"), hidden: "" });
  const requests = element("p", { class: "row" });
  openDialog(
    t("export"),
    labelled(t("format"), format),
    element("label", { class: "check" }, guesses, ` ${t("also_guesses")}`),
    element("p", { class: "hint" }, t("guesses_hint")),
    line,
    shown,
    element("p", { class: "row" }, button(t("export"), run), button(t("show_beginning"), preview, { class: "plain" })),
    requests,
  );
  routes.ownConcepts().then((own) => own.length && requests.append(
    t("requests_for", { n: own.length }),
    element("a", { href: routes.requestsAddress("issue"), download: "requests.md" }, t("request_issues")),
    element("a", { href: routes.requestsAddress("robot"), download: "requests.tsv" }, t("request_robot")),
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
    say(t("writing"));
    try {
      const { name, warnings } = await saveFile(routes.exportAddress({ format: format.value, guesses: guesses.checked }));
      say([t("is_saved", { name }), ...warnings].join(" "));
    } catch (error) {
      say(error.message);
    }
  }
}
