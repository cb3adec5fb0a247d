// Learns from decisions to link open terms better, or forgets what was learned.

import { button, element } from "../elements.js";
import { openDialog, statusLine } from "./dialog.js";
import { saveFile } from "./save_file.js";
import { t } from "../words.js";

// done(message): called after learning or forgetting, when open terms are being linked again.
export async function learnDialog({ routes, done }) {
  // Other reviewers may have learned in the meantime.
  const { learned, last } = await routes.summary();
  const { line, say } = statusLine();
  const learn = button(t("learn"), () => run(routes.learn, t("learning"), meaning));
  const forget = button(t("forget"), () => run(routes.forget, t("forgetting"), () => t("forgotten")), { class: "plain" });
  forget.hidden = !learned;
  const dialog = openDialog(
    t("learn_title"),
    element("p", {}, t("learn_lead")),
    element("p", { class: "facts" }, learned ? t("learned_and_since", { learned: meaning(learned), decisions: t("decisions", { n: Math.max(last - learned.last, 0) }) }) : t("nothing_learned")),
    line,
    element("p", { class: "row" }, learn, forget, button(t("save_learned"), save, { class: "plain" })),
    element("p", { class: "hint" }, t("learn_hint")),
  );

  async function save() {
    try {
      say(t("is_saved", { name: (await saveFile(routes.namesAddress)).name }));
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
  const taken = [t("names", { n: names }), ranker?.taken && t("better_order"), confidence?.taken && t("better_confidences")];
  return t("learned_from", { terms: t("terms", { n: terms }), what: taken.filter(Boolean).join("; ") });
}
