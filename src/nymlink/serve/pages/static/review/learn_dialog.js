// Learn from what is decided, so that terms that are still open link better; or forget it again.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { count } from "./preview.js";
import { saveFile } from "./save_file.js";

// done(message): something was learned or forgotten, and open terms are linked again.
export async function learnDialog({ routes, done }) {
  // Others may have learned meanwhile.
  const { learned, last } = await routes.summary();
  const { line, say } = statusLine();
  const learn = button("Learn", () => run(routes.learn, "Learning …", meaning));
  const forget = button("Forget", () => run(routes.forget, "Forgetting …", () => "What was learned is forgotten."), { class: "plain" });
  forget.hidden = !learned;
  const dialog = openDialog(
    "Learn from decisions",
    element("p", {}, "Decided terms become names of their concepts, for this project. From some dozens of decisions on, the order of candidates and the confidences learn, too, where that is better."),
    element("p", { class: "facts" }, learned ? `${meaning(learned)} ${count(Math.max(last - learned.last, 0), "decision")} since.` : "Nothing is learned yet."),
    line,
    element("p", { class: "row" }, learn, forget, button("Names as a table", save, { class: "plain" })),
    element("p", { class: "hint" }, "Terms that are open are linked again; no decision changes."),
  );

  async function save() {
    try {
      say(`${(await saveFile(routes.namesAddress)).name} is written.`);
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
