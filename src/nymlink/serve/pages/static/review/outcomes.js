// Reports the outcomes of decisions: saved, undone, not saved yet, or in conflict.

import { button } from "../elements.js";

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
    if (!undone.length) return say("You have no decision to undo.");
    for (const { term } of undone) details.forget(term);
    say(undone.length === 1 ? "Undone." : `${undone.length.toLocaleString("en")} decisions undone.`);
    lookAt(undone[0].term);
    return news.summarySoon();
  });

  decisions.addEventListener("waiting", ({ detail: error }) => {
    const number = decisions.outbox.size;
    const waiting = number === 1 ? "1 decision is not saved yet" : `${number} decisions are not saved yet`;
    place.dataset.kind = "waiting";
    const giveUp = button("Drop the first", () => decisions.outbox.giveUp(), { class: "plain" });
    warn(`${waiting}. This browser keeps them and tries again. ${error.message}`, giveUp);
  });

  decisions.addEventListener("refused", ({ detail: { error, decision } }) => {
    place.dataset.kind = "refused";
    if (!decision) return warn(error.message);
    details.forget(decision.term);
    const text = queue.get(decision.term)?.text;
    const look = button("Show the term", () => {
      warn("");
      lookAt(decision.term);
    });
    return warn(`${text ? `“${text}” was not saved: ` : ""}${error.message}`, look);
  });
}
