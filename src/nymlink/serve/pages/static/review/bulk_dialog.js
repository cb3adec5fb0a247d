// Accepts the first candidates of the filtered terms above a confidence, after a preview; lists earlier ones, to undo.

import { button, element, labelled } from "../elements.js";
import { percent } from "../why.js";
import { openDialog, statusLine } from "./dialog.js";
import { Filters } from "./filters.js";
import { momentOf, number, t } from "../words.js";

const PAUSE = 200;
const FIRST = 0.9;

// filters: those of the list; filtered: how many terms it has; done(message): called when candidates were accepted, or
// earlier ones undone; show(): shows the terms accepted so far.
export async function bulkDialog({ routes, reviewer, filters, filtered, done, show }) {
  const { batches } = await routes.summary();
  const above = element("input", { type: "number", min: 0, max: 1, step: 0.01, id: "above", inputmode: "decimal" });
  above.value = FIRST;
  const { line, say } = statusLine();
  const accept = button(t("accept"), run);
  const sample = element("div", { class: "sample" });
  const dialog = openDialog(
    t("accept_surest"),
    element("p", {}, t("accept_surest_lead", { terms: t("terms", { n: filtered }) })),
    labelled(t("confidence"), above),
    line,
    sample,
    element("p", { class: "row" }, accept),
    element("p", { class: "hint" }, t("abbreviations_hint")),
    earlier(),
  );
  dialog.classList.add("large");
  let asked = 0;
  above.addEventListener("input", () => {
    const mine = ++asked;
    setTimeout(() => mine === asked && look(), PAUSE);
  });
  above.focus();
  look();

  async function ask(dry) {
    return routes.accept({ reviewer, above: Number(above.value), filter: Filters.request(filters), dry_run: dry });
  }

  async function look() {
    const mine = ++asked;
    accept.disabled = true;
    sample.replaceChildren();
    if (above.value === "") return say(t("write_confidence"));
    try {
      const found = await ask(true);
      if (mine !== asked) return;
      say(meaning(found));
      if (found.terms) sample.replaceChildren(sampleTable(found));
      accept.disabled = !found.terms;
      accept.textContent = t("accept_many", { n: found.terms });
    } catch (error) {
      if (mine === asked) say(error.message);
    }
  }

  async function run() {
    accept.disabled = true;
    try {
      const found = await ask(false);
      dialog.close();
      done(t("accepted_undo", { n: found.terms }));
    } catch (error) {
      say(error.message);
      accept.disabled = false;
    }
  }

  function earlier() {
    if (!batches.length) return "";
    const item = ({ batch, reviewer: who, at, terms }) => {
      const said = { when: momentOf(at), terms: t("terms", { n: terms }), who };
      const undo = button(t("undo"), () => takeBack(batch, undo), { class: "plain small", "aria-label": t("undo_batch", said) });
      return element("li", {}, `${t("batch_line", said)} `, who === reviewer ? undo : "");
    };
    const shown = button(t("show_these"), () => {
      dialog.close();
      show();
    }, { class: "plain small" });
    return element("section", {}, element("h3", {}, t("accepted_so_far")), element("ul", {}, ...batches.map(item)), shown);
  }

  async function takeBack(batch, pressed) {
    pressed.disabled = true;
    try {
      const { undone } = await routes.undo(reviewer, batch);
      dialog.close();
      done(t("decisions_undone", { n: undone.length }));
    } catch (error) {
      say(error.message);
      pressed.disabled = false;
    }
  }
}

function sampleTable({ terms, sample }) {
  const row = ({ text, frequency, name, concept_id: id, confidence }) =>
    element(
      "tr",
      {},
      element("td", { dir: "auto" }, text, frequency > 1 ? element("span", { class: "why" }, ` × ${number(frequency)}`) : ""),
      element("td", {}, name, " ", element("span", { class: "id" }, id)),
      element("td", { class: "number" }, percent(confidence)),
    );
  const title = sample.length < terms ? t("sample_some", { n: sample.length }) : t("sample_all");
  const heads = [t("head_term"), t("head_concept"), t("confidence")].map((head) => element("th", { scope: "col" }, head));
  const table = element("table", {}, element("caption", {}, title), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...sample.map(row)));
  return element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": title }, table);
}

export function meaning({ terms, rows, expected_wrong: wrong, abbreviations }) {
  const left = abbreviations ? t("abbreviations_left", { n: abbreviations }) : "";
  if (!terms) return `${t("none_this_sure")}${left}`;
  const said = { terms: t("terms", { n: terms }), rows: t("rows", { n: rows }), n: terms, wrong: Math.round(wrong) };
  return `${t(wrong < 0.5 ? "bulk_none_wrong" : "bulk_some_wrong", said)}${left}`;
}
