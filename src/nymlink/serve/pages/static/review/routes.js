// The routes of projects.

import { ask, sendBytes } from "../api.js";
import { storedReviewer } from "./reviewer.js";

const fileHeaders = (file) => ({ "X-File-Name": encodeURIComponent(file.name ?? "") });

// Columns of a table that may be given as none.
export const COLUMNS = ["code", "frequency", "language", "type"];

// kept: fields whose empty value says something.
export function query(values, kept = []) {
  const given = Object.entries(values).filter(([name, value]) => (value !== "" || kept.includes(name)) && value !== null && value !== undefined);
  return new URLSearchParams(given).toString();
}

export const listProjects = async () => (await ask("/projects")).projects;
export const createProject = (values) => ask("/projects", values);
export const previewFile = (file, { composites, ...how }) => sendBytes(`/projects/preview?${query(how, COLUMNS)}`, file, fileHeaders(file));

export class ProjectRoutes {
  constructor(name) {
    this.name = name;
    this.path = `/projects/${encodeURIComponent(name)}`;
    this.namesAddress = `${this.path}/names`;
    this.reportAddress = `${this.path}/report`;
  }

  summary = () => ask(this.path);
  // viewer: a blind review shows a reviewer only their own decisions.
  terms = (filters) => ask(`${this.path}/terms?${query({ ...filters, viewer: storedReviewer() })}`);
  term = (id) => ask(`${this.path}/terms/${id}?${query({ viewer: storedReviewer() })}`);
  changes = (after) => ask(`${this.path}/changes?${query({ after, viewer: storedReviewer() })}`);
  uses = (concept) => ask(`${this.path}/concepts/${encodeURIComponent(concept)}?${query({ viewer: storedReviewer() })}`);
  setReview = (how) => ask(`${this.path}/reviewers`, how);
  split = (term) => ask(`${this.path}/split`, { term });
  addConcept = (values) => ask(`${this.path}/concepts`, values);
  ownConcepts = async () => (await ask(`${this.path}/concepts`)).concepts;
  decide = (decision) => ask(`${this.path}/decisions`, decision);
  undo = (reviewer, batch = null) => ask(`${this.path}/undo`, { reviewer, batch });
  search = (values) => ask(`${this.path}/search?${query(values)}`);
  rename = (title) => ask(`${this.path}/rename`, { title });
  remove = () => ask(this.path, null, "DELETE");
  accept = (values) => ask(`${this.path}/accept`, values);
  rebase = (index) => ask(`${this.path}/rebase`, { index });
  learn = () => ask(`${this.path}/learn`, {});
  forget = () => ask(`${this.path}/learn`, { forget: true });
  assign = (values) => ask(`${this.path}/assign`, values);
  cancel = () => ask(`${this.path}/cancel`, {});
  goOn = () => ask(`${this.path}/continue`, {});
  addFile = (file, how) => sendBytes(`${this.path}/files?${query(how, COLUMNS)}`, file, fileHeaders(file));
  importFile = (file, how) => sendBytes(`${this.path}/import?${query(how)}`, file, fileHeaders(file));
  requestsAddress = (template) => `${this.path}/concept-requests?${query({ template })}`;
  exportAddress = (how) => `${this.path}/export?${query(how)}`;
}
