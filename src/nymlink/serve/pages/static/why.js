// Shows candidates: matched name, parts of the score, confidence and definition.

import { ask } from "./api.js";
import { element } from "./elements.js";

export function conceptAddress(index, id) {
  return `/concept/${encodeURIComponent(index)}/${encodeURIComponent(id)}`;
}

export function percent(number) {
  return number === null ? "–" : `${Math.round(100 * number)} %`;
}

export function candidateList(index, link) {
  const list = element("ol", { class: "candidates" });
  for (const candidate of link.candidates) list.append(candidateItem(index, candidate));
  return list;
}

function candidateItem(index, candidate) {
  const { matched, parts } = candidate;
  const numbers = Object.entries(parts).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return element(
    "li",
    {},
    element("a", { href: conceptAddress(index, candidate.concept_id) }, candidate.concept_name),
    " ",
    element("span", { class: "id" }, candidate.concept_id),
    element(
      "p",
      { class: "why" },
      "by ",
      element("span", { class: "matched", lang: matched.lang, dir: "auto" }, matched.text),
      ` (${matched.kind}, ${matched.lang}), score ${candidate.score.toFixed(3)}: ${numbers.join(", ")}`,
    ),
    candidate.contradiction ? element("p", { class: "note" }, `contradicts: ${candidate.contradiction}`) : null,
  );
}

// Fetch the definition and parents of the first candidate, once.
export async function describe(index, link, place) {
  const [first] = link.candidates;
  if (!first || place.childNodes.length) return;
  const concept = await ask(`/concepts/${encodeURIComponent(first.concept_id)}?index=${encodeURIComponent(index)}`);
  if (concept.definition) place.append(element("p", {}, concept.definition));
  const parents = concept.parents.map((parent) => parent.name).join(", ");
  if (parents) place.append(element("p", { class: "why" }, `is a: ${parents}`));
}
