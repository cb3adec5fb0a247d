// Lists the terms of projects with a decision for this concept.

import { element } from "./elements.js";
import { describeDecision } from "./review/decisions.js";
import { listProjects, ProjectRoutes } from "./review/routes.js";
import { t } from "./words.js";

const place = document.getElementById("uses");
const { index, concept } = place.dataset;

async function show() {
  const projects = (await listProjects()).filter((project) => project.index === index && !project.problem);
  for (const { name, title } of projects) {
    const { terms } = await new ProjectRoutes(name).uses(concept);
    if (terms.length) place.append(uses(name, title, terms));
    place.hidden &&= !terms.length;
  }
}

function uses(name, title, terms) {
  return element(
    "div",
    {},
    element("h3", {}, element("a", { href: `/table/${encodeURIComponent(name)}` }, title || name), `: ${t("terms", { n: terms.length })}`),
    element("ul", { class: "names" }, ...terms.map(use)),
  );
}

function use(term) {
  const who = Object.entries(term.decisions)
    .filter(([, { targets }]) => targets.some(({ concept_id: id }) => id === concept))
    .map(([reviewer, decision]) => `${reviewer}: ${describeDecision(decision)}`);
  return element("li", { dir: "auto" }, `${term.text} `, element("span", { class: "kind" }, [t("rows", { n: term.frequency }), ...who].join(" · ")));
}

// A server without projects refuses the request; the page then shows no list.
show().catch(() => {});
