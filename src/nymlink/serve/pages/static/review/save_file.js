// Save what a route answers as a file of the browser. A link alone would save an error as if it were the file.

import { Refused, Unreachable } from "../api.js";
import { element } from "../elements.js";

// The name it was saved as, and the server's warnings.
export async function saveFile(address) {
  const answer = await fetch(address).catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  const [, name = "export"] = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "") ?? [];
  const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  const warnings = decodeURIComponent(answer.headers.get("X-Warnings") ?? "");
  return { name, warnings: warnings.split("\n").filter(Boolean) };
}
