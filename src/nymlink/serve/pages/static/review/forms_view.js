// The forms of a term ("seizures", "Seizure") and its parts ("gout, no fever").

import { button, element } from "../elements.js";

// Lists the other forms; split(): decides each form by itself.
export function formsOf(term, split) {
  if (!term.forms?.length) return "";
  const names = [...new Set(term.forms.map(({ text, language }) => (language && language !== term.language ? `${text} (${language})` : text)))];
  return element("p", { class: "row forms" }, element("span", { dir: "auto" }, `Decided together with: ${names.join(", ")}`), button("Decide separately", split, { class: "plain small" }));
}

// Says what the parts of a term are.
export function partsOf(term) {
  if (!term.parts?.length) return "";
  const name = ({ text, denied }) => (denied ? `no ${text}` : text);
  const what = term.parts.length === 1 ? "The term denies a finding" : `${term.parts.length} findings in one term`;
  return element("p", { class: "parts", dir: "auto" }, `${what}: ${term.parts.map(name).join(" · ")}. Each has its target below.`);
}
