// The form of a page: sent by button or Ctrl+Enter, and filled in from the address of the page.

import { t } from "./words.js";

const form = document.getElementById("ask");
const text = document.getElementById("text");
const index = document.getElementById("index");

export function startForm(send, say) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  document.getElementById("share").addEventListener("click", () => share(say));
  const given = new URLSearchParams(location.search);
  if ([...index.options].some((option) => option.value === given.get("index"))) index.value = given.get("index");
  if (given.get("text")) {
    text.value = given.get("text");
    send();
  }
}

async function share(say) {
  const address = new URL(location.href);
  address.search = new URLSearchParams({ index: index.value, text: text.value });
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(location.href);
    say(t("address_copied"));
  } catch {
    say(t("address_changed"));
  }
}
