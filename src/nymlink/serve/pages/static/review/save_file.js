// Saves the answer of a route to a file. A plain link would save an error message as the file.

import { Refused, Unreachable } from "../api.js";
import { element } from "../elements.js";

async function answered(address) {
  const answer = await fetch(address).catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

export const fetchText = async (address) => (await answered(address)).text();

// Returns the name of the file, and warnings of the server.
export async function saveFile(address) {
  const answer = await answered(address);
  const [, name = "export"] = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [];
  const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  const warnings = decodeURIComponent(answer.headers.get("X-Warnings") ?? "");
  return { name, warnings: warnings.split("\n").filter(Boolean) };
}
