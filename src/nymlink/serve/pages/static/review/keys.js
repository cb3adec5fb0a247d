// The keys of the review. The browser remembers changes.

import { recall, remember } from "./stored.js";
import { t } from "../words.js";

const STORED = "nymlink.keys";
const CANDIDATES = 10;

const DIGITS = Array.from({ length: CANDIDATES }, (_, place) => [`pick${place + 1}`, String((place + 1) % 10)]);

// Name and key.
const KNOWN = [
  ["accept", "Enter"],
  ["nextCandidate", "ArrowRight"],
  ["previousCandidate", "ArrowLeft"],
  ...DIGITS,
  ["nil", "n"],
  ["add", "a"],
  ["flag", "f"],
  ["clear", "x"],
  ["undo", "u"],
  ["search", "/"],
  ["tree", "t"],
  ["comment", "c"],
  ["relation", "r"],
  ["several", "s"],
  ["next", "ArrowDown"],
  ["previous", "ArrowUp"],
  ["open", "o"],
  ["help", "?"],
];
const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", " ": t("space"), Enter: "Enter" };
// Only these repeat while a key is held down.
const REPEAT = new Set(["next", "previous", "nextCandidate", "previousCandidate"]);
const RESERVED = new Set(["Tab", "Escape", "Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead", "Process", "Unidentified"]);

export class Keys {
  #enabled;
  #keys;

  constructor() {
    const stored = recall(STORED, {});
    this.#enabled = stored.enabled ?? true;
    this.#keys = new Map(KNOWN.map(([action, key]) => [action, stored.keys?.[action] ?? key]));
  }

  get enabled() {
    return this.#enabled;
  }

  set enabled(whether) {
    this.#enabled = whether;
    this.#store();
  }

  list() {
    const said = (action) => (action.startsWith("pick") ? t("key_pick", { number: Number(action.slice(4)) }) : t(`key_${action}`));
    return KNOWN.map(([action]) => ({ action, description: said(action), key: this.shown(action) }));
  }

  shown(action) {
    const key = this.#keys.get(action);
    return NAMES[key] ?? key;
  }

  // Give an action a key, and its old key to the action that had this one. Returns false for keys that cannot be used.
  remap(action, key) {
    if (RESERVED.has(key)) return false;
    const other = [...this.#keys].find(([, held]) => held === key)?.[0];
    if (other) this.#keys.set(other, this.#keys.get(action));
    this.#keys.set(action, key);
    this.#store();
    return true;
  }

  reset() {
    for (const [action, key] of KNOWN) this.#keys.set(action, key);
    this.#store();
  }

  // run(action): called for each key.
  listen(run) {
    document.addEventListener("keydown", (event) => {
      const action = this.#enabled && !isElsewhere(event) && this.#actionOf(event.key);
      if (!action) return;
      event.preventDefault();
      if (!event.repeat || REPEAT.has(action)) run(action);
    });
  }

  #actionOf(key) {
    const held = [...this.#keys];
    const found = held.find(([, each]) => each === key) ?? held.find(([, each]) => each.toLowerCase() === key.toLowerCase());
    return found?.[0];
  }

  #store() {
    remember(STORED, { enabled: this.#enabled, keys: Object.fromEntries(this.#keys) });
  }
}

// Whether a key belongs to a field, a focused button, a dialog or the browser.
function isElsewhere(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (document.querySelector("dialog[open]")) return true;
  const place = event.target;
  if (place.matches("input:not([type=checkbox]), textarea, select, [role=tree]")) return true;
  return (event.key === "Enter" || event.key === " ") && place.matches("button, a, summary, input");
}
