// The page that links names, one per line.

import { ask } from "./api.js";
import { element } from "./elements.js";
import { startForm } from "./form.js";
import { candidateList, conceptAddress, describe, percent } from "./why.js";
import { t } from "./words.js";

const AT_ONCE = 200;
const SHOWN_CANDIDATES = 5;

const text = document.getElementById("text");
const index = document.getElementById("index");
const status = document.getElementById("status");
const links = document.getElementById("links");

let asked = 0;

async function linkNames() {
  const mine = ++asked;
  const names = text.value.split("\n").map((line) => line.trim()).filter(Boolean);
  links.replaceChildren();
  if (!names.length) return say(t("write_names"));
  const table = newTable();
  links.append(table);
  try {
    // Show the first links before all are done.
    for (let start = 0; start < names.length; start += AT_ONCE) {
      say(t("linking_names", { n: names.length, done: start }));
      const mentions = names.slice(start, start + AT_ONCE);
      const answer = await ask("/link", { mentions, index: index.value, top_k: SHOWN_CANDIDATES });
      if (mine !== asked) return;
      for (const link of answer.links) table.tBodies[0].append(row(index.value, link));
    }
    say(t("names_linked", { n: names.length }));
  } catch (error) {
    if (mine === asked) say(error.message);
  }
}

function newTable() {
  const head = [t("head_name"), t("head_concept"), t("confidence")].map((title) => element("th", { scope: "col" }, title));
  return element(
    "table",
    {},
    element("caption", {}, t("links_caption")),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody"),
  );
}

function row(index, link) {
  const first = link.candidates[0];
  const meaning = element("div", { class: "definition" });
  const notes = link.notes.length ? element("p", { class: "note" }, link.notes.join("; ")) : null;
  const details = element("details", {}, element("summary", {}, link.mention), notes, meaning, candidateList(index, link));
  const fill = () => describe(index, link, meaning).catch((error) => say(error.message));
  details.addEventListener("toggle", () => details.open && fill());
  const concept = first
    ? [
        element("a", { href: conceptAddress(index, first.concept_id) }, first.concept_name),
        " ",
        element("span", { class: "id" }, first.concept_id),
      ]
    : [t("none_similar")];
  const doubt = link.notes.length ? element("span", { class: "doubt" }, ` ${link.notes.join("; ")}`) : "";
  return element(
    "tr",
    {},
    element("td", {}, details),
    element("td", {}, ...concept, doubt),
    element("td", { class: "number" }, meter(link.confidence), percent(link.confidence)),
  );
}

function meter(confidence) {
  if (confidence === null) return "";
  return element("meter", { value: confidence, min: 0, max: 1, low: 0.5, high: 0.8, optimum: 1, "aria-hidden": "true" });
}

function say(message) {
  status.textContent = message;
}

startForm(linkNames, say);
