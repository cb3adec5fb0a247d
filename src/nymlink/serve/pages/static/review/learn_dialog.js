// Learns from decisions to link open terms better, or forgets what was learned.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { count } from "./preview.js";
import { saveFile } from "./save_file.js";

// done(message): called after learning or forgetting, when open terms are being linked again.
export async function learnDialog({ routes, done }) {
  // Other reviewers may have learned in the meantime.
  const { learned, last } = await routes.summary();
  const { line, say } = statusLine();
  const learn = button("Learn", () => run(routes.learn, "Learning …", meaning));
  const forget = button("Forget", () => run(routes.forget, "Forgetting …", () => "The learned names, order and confidences are removed."), { class: "plain" });
  forget.hidden = !learned;
  const dialog = openDialog(
    "Learn from decisions",
    element("p", {}, "Decided terms become names of their concepts in this project. With some dozens of decisions, the order of candidates and the confidences are learned too, if that improves them."),
    element("p", { class: "facts" }, learned ? `${meaning(learned)} ${count(Math.max(last - learned.last, 0), "decision")} since.` : "Nothing is learned yet."),
    line,
    element("p", { class: "row" }, learn, forget, button("Save learned names", save, { class: "plain" })),
    element("p", { class: "hint" }, "Open terms are linked again. Decisions do not change."),
  );

  async function save() {
    try {
      say(`${(await saveFile(routes.namesAddress)).name} is saved.`);
    } catch (error) {
      say(error.message);
    }
  }

  async function run(send, doing, saying) {
    learn.disabled = forget.disabled = true;
    say(doing);
    try {
      const found = await send();
      dialog.close();
      done(saying(found.learned));
    } catch (error) {
      say(error.message);
      learn.disabled = forget.disabled = false;
    }
  }
}

export function meaning({ terms, names, ranker, confidence }) {
  const taken = [ranker?.taken && "the order of candidates", confidence?.taken && "confidences"].filter(Boolean);
  const better = taken.length ? `; better ${taken.join(" and ")}` : "";
  return `Learned from ${count(terms, "term")}: ${count(names, "name")}${better}.`;
}
