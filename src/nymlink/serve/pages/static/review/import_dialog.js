// Adds a table, or decisions made elsewhere, to a project.

import { element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { fileSource } from "./file_source.js";
import { Preview, count } from "./preview.js";

const SHOWN = 3;

export function addFileDialog({ routes, reviewer, done }) {
  const { line, say } = statusLine();
  const preview = new Preview(element("div"), { add, say });
  const dialog = openDialog("Add a table", fileSource((file) => preview.show(file)), line, preview.place);
  dialog.classList.add("large");

  async function add(file, how) {
    const added = await routes.addFile(file, { ...how, reviewer });
    dialog.close();
    const before = added.decided ? `, ${count(added.decided, "term")} decided before` : "";
    done([`${count(added.rows, "row")} added, ${count(added.new_terms, "new term")}${before}.`, leftOut(added)].filter(Boolean).join(" "));
  }
}

// What was not read of an added table; empty for nothing.
export function leftOut({ problems: { rejected, first } }) {
  if (!rejected) return "";
  const lines = first.slice(0, SHOWN).map(({ line, message }) => (line ? `row ${line}: ${message}` : message));
  return `Not reviewed: ${[...lines, ...(rejected > lines.length ? [`${rejected - lines.length} more`] : [])].join("; ")}.`;
}

export function importDialog({ routes, reviewer, done }) {
  const { line, say } = statusLine();
  const dialog = openDialog(
    "Import decisions",
    element("p", {}, "From Usagi, SSSOM, a FHIR ConceptMap, a table exported from a project, or another project:"),
    fileSource(take, "the file"),
    line,
  );

  async function take(file) {
    say(`Reading ${file.name} …`);
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
  const said = [`${count(fresh, "new decision")} of ${stated.toLocaleString("en")} in the file`];
  if (unknownTerms) said.push(`${count(unknownTerms, "term")} not in this project`);
  if (unknownConcepts.length) said.push(`${count(unknownConcepts.length, "concept")} not in the vocabulary: ${unknownConcepts.slice(0, SHOWN).join(", ")}`);
  said.push(...problems.first.slice(0, SHOWN).map(({ line, message }) => (line ? `line ${line}: ${message}` : message)));
  return `${said.join("; ")}.`;
}
