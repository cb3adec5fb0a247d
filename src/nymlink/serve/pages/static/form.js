// The form of a page: it is sent by script, by keys too, and filled in from the address, which can be copied.

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
    say("The address is copied. It holds what you wrote: who sees it reads that.");
  } catch {
    say("The address of this page now holds what you wrote.");
  }
}
