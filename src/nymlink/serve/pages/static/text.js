// The page that finds mentions in a text, and shows the candidates of a selected mention.

import { ask } from "./api.js";
import { button, element } from "./elements.js";
import { startForm } from "./form.js";
import { annotationFile, saveText } from "./text_file.js";
import { candidateList, describe, percent } from "./why.js";
import { t } from "./words.js";

const text = document.getElementById("text");
const index = document.getElementById("index");
const status = document.getElementById("status");
const found = document.getElementById("found");
const why = document.getElementById("why");

const legend = document.getElementById("legend");
const save = document.getElementById("save");
// The flags of a mention.
const FLAGS = ["negated", "family", "historical", "hypothetical"];
const SHOWN = 5;
const MOST = 2000;

let asked = 0;
let byName = new Map();
let annotations = [];

async function find() {
  const mine = ++asked;
  const written = text.value;
  found.replaceChildren();
  why.replaceChildren();
  legend.hidden = save.hidden = true;
  if (!written.trim()) return say(t("write_text"));
  say(t("finding"));
  try {
    const { links } = await ask("/annotate", { text: written, index: index.value });
    if (mine !== asked) return;
    // The confidence of a name is the same on every page.
    const names = [...new Set(links.map((link) => link.mention))];
    const linked = names.length ? (await ask("/link", { mentions: names.slice(0, MOST), index: index.value, top_k: SHOWN })).links : [];
    if (mine !== asked) return;
    byName = new Map(linked.map((link) => [link.mention, link]));
    found.append(...highlighted(written, links));
    legend.hidden = !links.length;
    save.hidden = !links.length;
    annotations = links;
    say(t("mentions_found", { n: links.length }));
  } catch (error) {
    if (mine === asked) say(error.message);
  }
}

// Offsets count code points; JavaScript strings count UTF-16 units.
function highlighted(written, links) {
  const points = Array.from(written);
  const parts = [];
  let end = 0;
  for (const link of links) {
    if (link.start < end) continue;
    parts.push(points.slice(end, link.start).join(""), mention(link));
    end = link.end;
  }
  return [...parts, points.slice(end).join("")];
}

function mention(link) {
  const flags = Object.keys(link.triggers);
  const mark = element("button", { type: "button", class: ["mention", ...flags].join(" "), "aria-describedby": "why" }, link.mention);
  for (const look of ["mouseenter", "focus", "click"]) mark.addEventListener(look, () => show(link, mark));
  return mark;
}

function show(inText, mark) {
  // The text may decide between meanings; then its link counts.
  const named = byName.get(inText.mention);
  const same = named?.candidates[0]?.concept_id === inText.candidates[0]?.concept_id;
  const link = same ? { ...inText, confidence: named.confidence, candidates: named.candidates } : inText;
  for (const other of found.querySelectorAll(".looked-at")) other.classList.remove("looked-at");
  mark.classList.add("looked-at");
  const meaning = element("div", { class: "definition" });
  const flags = Object.entries(link.triggers).map(([flag, words]) => `${FLAGS.includes(flag) ? t(flag) : flag}: “${words}”`);
  why.replaceChildren(
    element("h2", {}, link.mention),
    element("p", {}, t("confidence_of", { percent: percent(link.confidence) })),
    flags.length ? element("p", { class: "note" }, flags.join("; ")) : "",
    link.notes.length ? element("p", { class: "note" }, link.notes.join("; ")) : "",
    meaning,
    candidateList(index.value, link),
  );
  describe(index.value, link, meaning).catch((error) => say(error.message));
}

function say(message) {
  status.textContent = message;
}

for (const kind of ["tsv", "jsonl"]) {
  save.append(button(t("save_as", { kind: kind.toUpperCase() }), () => saveText(`annotations.${kind}`, annotationFile(kind, annotations), "text/plain"), { class: "plain" }), " ");
}
startForm(find, say);
