// The forms of a term ("seizures", "Seizure") and its parts ("gout, no fever").

import { button, element } from "../elements.js";
import { languageName, t } from "../words.js";

// Lists the other forms; split(): decides each form by itself.
export function formsOf(term, split) {
  if (!term.forms?.length) return "";
  const names = [...new Set(term.forms.map(({ text, language }) => (language && language !== term.language ? `${text} (${languageName(language)})` : text)))];
  return element("p", { class: "row forms" }, element("span", { dir: "auto" }, t("together_with", { names: names.join(", ") })), button(t("decide_separately"), split, { class: "plain small" }));
}

// Says what the parts of a term are.
export function partsOf(term) {
  if (!term.parts?.length) return "";
  const name = ({ text, denied }) => (denied ? t("said_denied", { name: text }) : text);
  const what = term.parts.length === 1 ? t("denies_finding") : t("findings_in_term", { n: term.parts.length });
  return element("p", { class: "parts", dir: "auto" }, t("each_has_target", { what, names: term.parts.map(name).join(" · ") }));
}
