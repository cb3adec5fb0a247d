// Reports the outcomes of decisions: saved, undone, not saved yet, or in conflict.

import { button } from "../elements.js";
import { t } from "../words.js";

export function tellOutcomes({ decisions, queue, list, details, news, say, place }) {
  function warn(message, ...buttons) {
    place.replaceChildren(message, ...buttons);
  }

  function lookAt(id) {
    const found = queue.place(id);
    if (found >= 0) list.select(found);
    list.focus();
  }

  decisions.addEventListener("saved", ({ detail: { term } }) => {
    if (place.dataset.kind === "waiting") warn("");
    details.forget(term);
    news.summarySoon();
  });

  decisions.addEventListener("undone", ({ detail: undone }) => {
    if (!undone.length) return say(t("nothing_to_undo"));
    for (const { term } of undone) details.forget(term);
    say(undone.length === 1 ? t("undone") : t("decisions_undone", { n: undone.length }));
    lookAt(undone[0].term);
    return news.summarySoon();
  });

  decisions.addEventListener("waiting", ({ detail: error }) => {
    place.dataset.kind = "waiting";
    const giveUp = button(t("drop_first"), () => decisions.outbox.giveUp(), { class: "plain" });
    warn(`${t("not_saved_yet", { n: decisions.outbox.size })} ${error.message}`, giveUp);
  });

  decisions.addEventListener("refused", ({ detail: { error, decision } }) => {
    place.dataset.kind = "refused";
    if (!decision) return warn(error.message);
    details.forget(decision.term);
    const text = queue.get(decision.term)?.text;
    const look = button(t("show_term"), () => {
      warn("");
      lookAt(decision.term);
    });
    return warn(text ? t("was_not_saved", { text, why: error.message }) : error.message, look);
  });
}
