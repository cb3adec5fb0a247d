// The page that asks for a token, and then shows what was asked for.

document.getElementById("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = document.getElementById("token").value.trim();
  const answer = await fetch("/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  if (answer.ok) location.reload();
  else document.getElementById("status").textContent = "This is no token of this server.";
});
