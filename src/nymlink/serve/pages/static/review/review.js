// The page that reviews the links of a project.

import { ask } from "../api.js";
import { button, element } from "../elements.js";
import { Actions } from "./actions.js";
import { assignDialog } from "./assign_dialog.js";
import { bulkDialog } from "./bulk_dialog.js";
import { conceptDialog } from "./concept_dialog.js";
import { Decisions } from "./decisions.js";
import { exportDialog } from "./export_dialog.js";
import { FIRST, Filters } from "./filters.js";
import { addFileDialog, importDialog } from "./import_dialog.js";
import { Keys } from "./keys.js";
import { keysDialog } from "./keys_dialog.js";
import { learnDialog } from "./learn_dialog.js";
import { News } from "./news.js";
import { tellOutcomes } from "./outcomes.js";
import { Queue } from "./queue.js";
import { rebaseDialog } from "./rebase_dialog.js";
import { askReviewer, storedReviewer } from "./reviewer.js";
import { reviewersDialog } from "./reviewers_dialog.js";
import { ProjectRoutes } from "./routes.js";
import { forget, recall, remember } from "./stored.js";
import { SummaryView } from "./summary_view.js";
import { Targets } from "./targets.js";
import { TermDetails } from "./term_details.js";
import { TermList } from "./term_list.js";
import { TermView } from "./term_view.js";
import { VocabularySearch } from "./vocabulary_search.js";
import { t } from "../words.js";

const byId = (id) => document.getElementById(id);
const routes = new ProjectRoutes(document.body.dataset.project);
const stored = `nymlink.view.${routes.name}`;
const seen = recall(stored, {});

function say(message) {
  byId("status").textContent = message;
}

async function start() {
  let me = storedReviewer();
  const reviewer = () => me;
  const keys = new Keys();
  const queue = new Queue(routes);
  const details = new TermDetails(routes);
  const list = new TermList(byId("terms"), { queue, reviewer });
  const decisions = new Decisions({ routes, queue, reviewer });
  const news = new News({ routes, queue, list, details });
  await news.start();
  const { index, title } = news.summary;
  byId("title").textContent = document.title = title;
  me ||= await askReviewer(news.people);

  const leave = () => list.focus();
  const run = (action) => actions.run(action);
  const take = (concept) => actions.take(concept);
  const targets = new Targets({ changed: () => view.drawCandidates() });
  const comment = (term, text) => actions.keepComment(term, text);
  const view = new TermView(byId("term"), { name: routes.name, keys, reviewer, index: index.served_as, targets, run, take, comment, leave });
  const covers = (whether) => view.candidateBox?.classList.toggle("covered", whether);
  const { indexes } = await ask("/indexes");
  const parts = indexes.find(({ name }) => name === index.served_as)?.parts ?? [];
  const finder = new VocabularySearch({ routes, index: index.served_as, parts, from: () => view.selected, take, leave, covers, say });
  view.fill(finder);
  const filters = new Filters(byId("filters"), { values: seen.filters ?? FIRST, changed: () => load() });
  const wanted = () => (filters.values.status === "mine" ? { ...filters.values, reviewer: me } : filters.values);
  const help = () => keysDialog({ keys, changed: drawButtons });
  const separate = (term) => routes.split(term.id).then(() => load());
  const addConcept = (term, candidates) => conceptDialog({ routes, reviewer: me, term, candidates, take });
  const actions = new Actions({ queue, list, view, targets, finder, decisions, wanted, help, separate, addConcept, say });
  const overview = new SummaryView(byId("summary"), {
    cancel: () => attempt(routes.cancel),
    goOn: () => attempt(routes.goOn),
    rebase: () => rebaseDialog({ routes, index: news.summary.index, done: showChanged }).catch((error) => say(error.message)),
  });

  drawButtons();
  drawSummary();
  news.addEventListener("summary", drawSummary);
  news.addEventListener("linked", () => load(false));
  list.addEventListener("draw", () => news.refreshVisible());
  list.addEventListener("select", ({ detail: term }) => {
    const mine = term.decisions[me];
    targets.reset(mine?.targets.length === 1 ? mine.targets[0].relation : "exact");
    propose(term);
    finder.clear();
    rememberView();
    show(term);
  });
  queue.addEventListener("term", ({ detail: id }) => {
    if (id !== list.current) return;
    propose(list.term);
    show(list.term);
  });
  for (const kind of ["rows", "more"]) {
    queue.addEventListener(kind, () => {
      byId("queue-title").textContent = t("terms_counted", { n: queue.total });
      if (list.current === null && queue.total) list.select(0);
    });
  }
  tellOutcomes({ decisions, queue, list, details, news, say, place: byId("problem") });
  keys.listen(run);
  list.current = seen.term ?? null;
  await load();
  decisions.resume();
  leave();
  // What could not be read of the table that made this project.
  const notice = recall(`nymlink.notice.${routes.name}`, "");
  if (notice) byId("problem").replaceChildren(notice, button(t("hide"), () => byId("problem").replaceChildren(), { class: "plain small" }));
  forget(`nymlink.notice.${routes.name}`);
  news.watch();

  // Suggest a target for each part of an undecided term, unless the reviewer has chosen some.
  function propose(term) {
    const mine = term.decisions[me];
    if ((!mine || mine.verdict === "open") && !targets.all.length) targets.propose(term);
  }

  // asked: whether the reviewer changed the filters; then the term stays selected, unless the reviewer moves on.
  async function load(asked = true) {
    rememberView();
    details.clear();
    const before = list.current;
    try {
      await queue.load(wanted());
      if (list.term && asked && list.current === before) list.select(list.place);
      else if (list.term) {
        propose(list.term);
        show(list.term);
      } else if (queue.rows.length) list.select(0);
      else show(null);
    } catch (error) {
      say(error.message);
    }
    news.summarySoon();
  }

  async function show(term) {
    view.show(term, view.term?.id === term?.id ? view.details : null);
    if (!term) return;
    try {
      const known = await details.get(term.id);
      if (view.term?.id === term.id) view.show(term, known);
    } catch (error) {
      say(error.message);
    }
    const after = queue.rows[list.place + 1];
    if (after) details.get(after.id).catch(() => {});
  }

  // Load the page again with the other index.
  function showChanged() {
    remember(stored, { filters: { ...filters.values, status: "changed" } });
    location.reload();
  }

  function showAccepted() {
    filters.status = "accepted";
    load();
    list.focus();
  }

  function rememberView() {
    remember(stored, { filters: filters.values, term: list.current });
  }

  function drawSummary() {
    overview.show(news.summary);
    filters.people([me, ...news.people]);
  }

  async function attempt(act) {
    try {
      await act();
      news.summarySoon();
    } catch (error) {
      say(error.message);
    }
  }

  function drawButtons() {
    view.drawButtons();
    const people = () => [...new Set([me, ...news.people])];
    const done = (message) => {
      say(message);
      load();
      list.focus();
    };
    const plain = { class: "plain" };
    byId("actions").replaceChildren(
      button(t("b_surest"), () => bulkDialog({ routes, reviewer: me, filters: wanted(), filtered: queue.total, done, show: showAccepted }).catch((error) => say(error.message)), plain),
      button(t("b_learn"), () => learnDialog({ routes, done }).catch((error) => say(error.message)), plain),
      button(t("b_assign"), () => assignDialog({ routes, filters: wanted(), total: queue.total, people: people(), done }), plain),
      button(t("b_add_table"), () => addFileDialog({ routes, reviewer: me, done }), plain),
      button(t("b_import"), () => importDialog({ routes, reviewer: me, done }), plain),
      button(t("b_reviewers"), () => reviewersDialog({ routes, summary: news.summary, people: people(), done }), plain),
      element("a", { href: routes.reportAddress, target: "_blank", rel: "noopener" }, t("report")),
      button(t("b_export"), () => exportDialog({ routes, formats: news.summary.formats }), plain),
      button([`${t("keys")} `, element("kbd", {}, keys.shown("help"))], help, plain),
      button(t("reviewer_is", { name: me }), () => changeReviewer(people()), plain),
    );
  }

  async function changeReviewer(people) {
    me = await askReviewer(people, me);
    drawButtons();
    load();
  }
}

start().catch((error) => say(error.message));
