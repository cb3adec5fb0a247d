// The page that starts a review: makes a project from a file, and lists the projects.

import { Refused } from "../api.js";
import { element } from "../elements.js";
import { fileSource } from "./file_source.js";
import { Preview, count } from "./preview.js";
import { storedReviewer } from "./reviewer.js";
import { createProject, listProjects, ProjectRoutes } from "./routes.js";

const MOST_TRIES = 100;

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
    await new ProjectRoutes(name).addFile(file, { ...how, reviewer: storedReviewer() });
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
    projects.replaceChildren(found.length ? projectsTable(found) : "There are no projects yet. Drop a table above.");
  } catch (error) {
    projects.replaceChildren(error.message);
  }
}

function projectsTable(found) {
  const heads = ["Project", "Index", "Terms", "Decided", "Created"].map((head) => element("th", { scope: "col" }, head));
  return element(
    "table",
    {},
    element("caption", {}, count(found.length, "project")),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...found.map(projectRow)),
  );
}

function projectRow(project) {
  const name = element("a", { href: `/table/${encodeURIComponent(project.name)}`, dir: "auto" }, project.title || project.name);
  if (project.problem) return element("tr", {}, element("td", {}, project.name), element("td", { colspan: 4, class: "note" }, project.problem));
  return element(
    "tr",
    {},
    element("td", {}, name),
    element("td", {}, project.index ?? ""),
    element("td", { class: "number" }, `${project.terms.toLocaleString("en")} in ${count(project.rows, "row")}`),
    element("td", { class: "number" }, `${project.decided.toLocaleString("en")} (${share(project.rows_decided, project.rows)} of rows)`),
    element("td", { class: "number" }, new Date(project.created).toLocaleDateString()),
  );
}

function share(part, whole) {
  return `${whole ? Math.floor((100 * part) / whole) : 0} %`;
}

const preview = new Preview(document.createElement("div"), { add: begin, say });
document.getElementById("source").append(fileSource((file) => preview.show(file)), preview.place);
document.getElementById("new").addEventListener("submit", (event) => event.preventDefault());
showProjects();
