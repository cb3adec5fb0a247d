// The page that starts a review: makes a project from a file, and lists the projects.

import { Refused } from "../api.js";
import { button, element, labelled } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { fileSource } from "./file_source.js";
import { Preview } from "./preview.js";
import { leftOut } from "./import_dialog.js";
import { storedReviewer } from "./reviewer.js";
import { createProject, listProjects, ProjectRoutes } from "./routes.js";
import { remember } from "./stored.js";
import { dayOf, t } from "../words.js";

const MOST_TRIES = 100;
const EXAMPLE = `patient,finding,count
1,seizures,12
2,siezures,3
3,short stature,7
4,SOB,4
5,wide based gait,2
6,no fever,1
7,ID (moderate),1
8,n/a,5
`;

const index = document.getElementById("index");
const title = document.getElementById("title");
const status = document.getElementById("status");
const projects = document.getElementById("projects");

function say(message) {
  status.textContent = message;
}

async function begin(file, how) {
  const wanted = title.value.trim() || file.name;
  const name = await newProject(wanted);
  try {
    const added = await new ProjectRoutes(name).addFile(file, { ...how, reviewer: storedReviewer() });
    remember(`nymlink.notice.${name}`, leftOut(added));
  } finally {
    // The empty project stays in the list, and another file can be added to it.
    showProjects();
  }
  location.assign(`/table/${encodeURIComponent(name)}`);
}

async function newProject(wanted) {
  const base = wanted.replace(/\.\w{1,5}$/, "").normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|-+$/g, "").slice(0, 90) || "table";
  for (let tries = 1; ; tries += 1) {
    const name = tries === 1 ? base : `${base}-${tries}`;
    try {
      await createProject({ name, title: wanted, index: index.value });
      return name;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 409 && tries < MOST_TRIES)) throw error;
    }
  }
}

async function showProjects() {
  try {
    const found = await listProjects();
    projects.replaceChildren(found.length ? projectsTable(found) : t("no_projects"));
  } catch (error) {
    projects.replaceChildren(error.message);
  }
}

function projectsTable(found) {
  const heads = [t("project"), t("vocabulary"), t("terms_heading"), t("head_decided"), t("created"), ""].map((head) => element("th", { scope: "col" }, head));
  return element(
    "table",
    {},
    element("caption", {}, t("projects", { n: found.length })),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...found.map(projectRow)),
  );
}

function projectRow(project) {
  const name = element("a", { href: `/table/${encodeURIComponent(project.name)}`, dir: "auto" }, project.title || project.name);
  if (project.problem) return element("tr", {}, element("td", {}, project.name), element("td", { colspan: 4, class: "note" }, project.problem), element("td", {}, removeButton(project)));
  return element(
    "tr",
    {},
    element("td", {}, name),
    element("td", {}, project.index ?? ""),
    element("td", { class: "number" }, t("terms_in_rows", { n: project.terms, rows: t("rows", { n: project.rows }) })),
    element("td", { class: "number" }, t("share_of_rows", { n: project.decided, share: share(project.rows_decided, project.rows) })),
    element("td", { class: "number" }, dayOf(project.created)),
    element("td", { class: "row" }, button(t("rename"), () => renameDialog(project), { class: "plain small", "aria-label": t("rename_one", { title: project.title }) }), removeButton(project)),
  );
}

function renameDialog({ name, title: before }) {
  const field = element("input", { id: "new-title", maxlength: 200, autocomplete: "off", required: "" });
  field.value = before;
  const { line, say: tell } = statusLine();
  const form = element("form", {}, labelled(t("title"), field), line, element("p", { class: "row" }, element("button", { type: "submit" }, t("rename"))));
  const dialog = openDialog(t("rename_title"), form);
  field.select();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await attempt(dialog, tell, () => new ProjectRoutes(name).rename(field.value));
  });
}

function removeButton(project) {
  return button(t("delete"), () => removeDialog(project), { class: "plain small", "aria-label": t("delete_one", { title: project.title || project.name }) });
}

function removeDialog({ name, title: called, decided }) {
  const { line, say: tell } = statusLine();
  const remove = button(t("delete_for_ever"), () => attempt(dialog, tell, () => new ProjectRoutes(name).remove()));
  const dialog = openDialog(
    t("delete_title"),
    element("p", {}, t(decided ? "delete_ask_decided" : "delete_ask", { title: called || name, n: decided })),
    line,
    element("p", { class: "row" }, remove),
  );
  dialog.querySelector(".close").textContent = t("cancel");
  dialog.querySelector(".close").focus();
}

async function attempt(dialog, tell, act) {
  try {
    await act();
    dialog.close();
    showProjects();
  } catch (error) {
    tell(error.message);
  }
}

function useExample() {
  preview.show(new File([EXAMPLE], "example.csv"));
}

function share(part, whole) {
  return `${whole ? Math.floor((100 * part) / whole) : 0} %`;
}

const preview = new Preview(document.createElement("div"), { add: begin, say });
document.getElementById("source").append(fileSource((file) => preview.show(file)), preview.place);
document.getElementById("new").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("example").addEventListener("click", useExample);
showProjects();
if (new URLSearchParams(location.search).has("example")) useExample();
