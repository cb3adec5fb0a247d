// The page that asks for a token, and then loads the requested page.

import { t } from "./words.js";

document.getElementById("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = document.getElementById("token").value.trim();
  const answer = await fetch("/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  if (answer.ok) location.reload();
  else document.getElementById("status").textContent = t("token_unknown");
});
