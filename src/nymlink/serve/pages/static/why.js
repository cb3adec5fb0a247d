// Shows candidates in words: how a name is alike, confidence, definition, names, parents and children.

import { ask } from "./api.js";
import { element } from "./elements.js";
import { languageName, t } from "./words.js";

const ALIKE = [["exact", t("same_spelling")], ["sparse", t("similar_spelling")], ["dense", t("similar_meaning")]];
const SHOWN = 8;
const fetched = new Map();

export function conceptAddress(index, id) {
  return `/concept/${encodeURIComponent(index)}/${encodeURIComponent(id)}`;
}

export function percent(number) {
  return number === null || number === undefined ? "–" : `${Math.round(100 * number)} %`;
}

// Why a name was found, in words.
export function reason({ matched, name, language, parts = {} }) {
  const [, word] = parts.exact === 1 ? ALIKE[0] : ALIKE[(parts.dense ?? 0) > (parts.sparse ?? 0) ? 2 : 1];
  const foreign = language && !["en", "und"].includes(language) ? ` (${languageName(language)})` : "";
  return matched && matched !== name ? `${word}: ${matched}${foreign}` : `${word}${foreign}`;
}

// Small bars for the parts of a score.
export function bars(parts = {}) {
  const known = ALIKE.filter(([part]) => part in parts);
  return element(
    "p",
    { class: "bars" },
    ...known.map(([part, word]) => element("span", {}, element("meter", { value: parts[part], min: 0, max: 1, "aria-label": word }), ` ${word}`)),
  );
}

// The values of a concept, fetched once.
export function conceptOf(index, id) {
  const address = `/concepts/${encodeURIComponent(id)}?index=${encodeURIComponent(index)}`;
  if (!fetched.has(address)) {
    const asked = ask(address);
    fetched.set(address, asked);
    asked.catch(() => fetched.delete(address));
  }
  return fetched.get(address);
}

// Paragraphs about a concept: definition, other names, parents and children.
export function meaningOf({ name, definition, names = {}, parents = [], children = [], children_count: total = children.length, obsolete }) {
  const others = Object.values(names).flat().map(({ text }) => text).filter((text) => text !== name);
  const line = (title, values, more) =>
    values.length ? element("p", {}, element("b", {}, `${title}: `), [...values.slice(0, SHOWN), more > SHOWN ? t("more", { n: more - SHOWN }) : ""].filter(Boolean).join(", ")) : "";
  return [
    obsolete ? element("p", { class: "note" }, t("obsolete")) : "",
    definition ? element("p", { class: "definition" }, definition) : "",
    line(t("other_names"), others, others.length),
    line(t("is_a"), parents.map((each) => each.name), parents.length),
    line(t("has_below"), children.map((each) => each.name), total),
  ].filter(Boolean);
}

export function candidateList(index, link) {
  return element("ol", { class: "candidates" }, ...link.candidates.map((candidate) => candidateItem(index, candidate)));
}

function candidateItem(index, { concept_id: id, concept_name: name, matched, parts, contradiction }) {
  return element(
    "li",
    {},
    element("a", { href: conceptAddress(index, id) }, name),
    " ",
    element("span", { class: "id" }, id),
    element("p", { class: "why" }, reason({ matched: matched.text, name, language: matched.lang, parts })),
    bars(parts),
    contradiction ? element("p", { class: "note" }, t("contradicts", { what: contradiction })) : null,
  );
}

// Fill a place with the meaning of the first candidate, once.
export async function describe(index, link, place) {
  const [first] = link.candidates;
  if (!first || place.childNodes.length) return;
  place.append(...meaningOf(await conceptOf(index, first.concept_id)));
}
