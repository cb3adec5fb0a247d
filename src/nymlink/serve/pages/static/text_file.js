// Saves the mentions of a text as a file.

import { element } from "./elements.js";

const FLAGS = ["negated", "family", "historical", "hypothetical"];
const COLUMNS = ["start", "end", "mention", "concept_id", "concept_name", "confidence", ...FLAGS];

// kind: "tsv" or "jsonl"; links: the answer of /annotate.
export function annotationFile(kind, links) {
  if (kind === "jsonl") return links.map((link) => `${JSON.stringify(link)}\n`).join("");
  return [COLUMNS, ...links.map(cellsOf)].map((cells) => `${cells.map(protect).join("\t")}\n`).join("");
}

export function saveText(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function cellsOf(link) {
  const [first] = link.candidates;
  const known = link.nil || !first ? ["", ""] : [first.concept_id, first.concept_name];
  return [link.start, link.end, link.mention, ...known, link.confidence?.toFixed(4) ?? "", ...FLAGS.map((flag) => Boolean(link[flag]))];
}

// One line a mention; a spreadsheet runs no cell as a formula.
function protect(cell) {
  const text = String(cell).replace(/\s+/g, " ").trim();
  return /^[=+\-@']/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
}
