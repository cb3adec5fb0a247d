// The candidates of a term, with definitions, parents and scores.

import { button, element } from "../elements.js";
import { conceptAddress, percent } from "../why.js";

const SHOWN_CHILDREN = 5;

// confidence: of the first candidate; take(candidate): called by a click; chosen: ids; keyOf(place): key of a candidate.
export function candidateList(candidates, { index, confidence, chosen, keyOf, take }) {
  const list = element("ol", { class: "candidates" });
  for (const [place, candidate] of candidates.entries()) {
    list.append(element("li", chosen.has(candidate.id) ? { class: "chosen" } : {}, ...content(candidate, place)));
  }
  return list;

  function content(candidate, place) {
    const key = keyOf(place);
    return [
      button(
        [key ? element("kbd", {}, key) : "", " ", element("span", { class: "name" }, candidate.name)],
        () => take(candidate),
        { class: "take", "aria-pressed": chosen.has(candidate.id) },
      ),
      element("span", { class: "id" }, conceptLink(index, candidate.id), numbers(candidate, place === 0 ? confidence : null)),
      candidate.obsolete ? element("p", { class: "note" }, "Obsolete") : "",
      candidate.contradiction ? element("p", { class: "note" }, `contradicts: ${candidate.contradiction}`) : "",
      matchedName(candidate),
      candidate.definition ? element("p", { class: "definition" }, candidate.definition) : "",
      hierarchy(candidate),
    ];
  }
}

function conceptLink(index, id) {
  return index ? element("a", { href: conceptAddress(index, id), target: "_blank", rel: "noopener" }, id) : id;
}

function numbers({ score }, confidence) {
  return ` · score ${score.toFixed(2)}${confidence === null ? "" : ` · confidence ${percent(confidence)}`}`;
}

function matchedName({ matched, language, kind, parts }) {
  if (!matched) return "";
  const shown = Object.entries(parts).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return element(
    "p",
    { class: "why" },
    "by ",
    element("span", { class: "matched", lang: language, dir: "auto" }, matched),
    ` (${[kind, language].join(", ")})`,
    shown.length ? `: ${shown.join(", ")}` : "",
  );
}

function hierarchy({ parents = [], children = [], children_count: total }) {
  const below = children.slice(0, SHOWN_CHILDREN).map(({ name }) => name);
  if (total > below.length) below.push(`${total - below.length} more`);
  const lines = [parents.length && `is a: ${parents.map(({ name }) => name).join(", ")}`, below.length && `has: ${below.join(", ")}`];
  return element("p", { class: "why" }, lines.filter(Boolean).join(" · "));
}
