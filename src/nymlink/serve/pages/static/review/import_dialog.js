// Adds a table, or decisions made elsewhere, to a project.

import { element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { fileSource } from "./file_source.js";
import { Preview } from "./preview.js";
import { t } from "../words.js";

const SHOWN = 3;

export function addFileDialog({ routes, reviewer, done }) {
  const { line, say } = statusLine();
  const preview = new Preview(element("div"), { add, say });
  const dialog = openDialog(t("add_table_title"), fileSource((file) => preview.show(file)), line, preview.place);
  dialog.classList.add("large");

  async function add(file, how) {
    const added = await routes.addFile(file, { ...how, reviewer });
    dialog.close();
    const before = added.decided ? t("decided_before", { n: added.decided }) : "";
    done([t("rows_added", { rows: t("rows", { n: added.rows }), terms: t("new_terms", { n: added.new_terms }), before }), leftOut(added)].filter(Boolean).join(" "));
  }
}

// What was not read of an added table; empty for nothing.
export function leftOut({ problems: { rejected, first } }) {
  if (!rejected) return "";
  const lines = first.slice(0, SHOWN).map(({ line, message }) => (line ? t("row_problem", { line: String(line), message }) : message));
  return t("not_reviewed", { lines: [...lines, ...(rejected > lines.length ? [t("more", { n: rejected - lines.length })] : [])].join("; ") });
}

export function importDialog({ routes, reviewer, done }) {
  const { line, say } = statusLine();
  const dialog = openDialog(
    t("import_title"),
    element("p", {}, t("import_lead")),
    fileSource(take, "drop_file"),
    line,
  );

  async function take(file) {
    say(t("reading", { name: file.name }));
    try {
      const found = await routes.importFile(file, { reviewer });
      dialog.close();
      done(importedLine(found));
    } catch (error) {
      say(error.message);
    }
  }
}

function importedLine({ stated, new: fresh, unknown_terms: unknownTerms, unknown_concepts: unknownConcepts, problems }) {
  const said = [t("import_stated", { decisions: t("new_decisions", { n: fresh }), n: stated })];
  if (unknownTerms) said.push(t("import_unknown_terms", { n: unknownTerms }));
  if (unknownConcepts.length) said.push(t("import_unknown_concepts", { n: unknownConcepts.length, ids: unknownConcepts.slice(0, SHOWN).join(", ") }));
  said.push(...problems.first.slice(0, SHOWN).map(({ line, message }) => (line ? t("line_problem", { line: String(line), message }) : message)));
  return `${said.join("; ")}.`;
}
