// Requests to the server.

import { t } from "./words.js";

export class Unreachable extends Error {
  constructor(message = t("no_answer")) {
    super(message);
  }
}

// A request that the server refused, with the status and the problem of its answer.
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.what ? `${problem.what}: ${problem.what_to_do}` : t("status_answer", { status: String(status) }));
    this.status = status;
    this.problem = problem;
  }
}

export async function ask(path, body = null, method = body ? "POST" : "GET") {
  const headers = body ? { "Content-Type": "application/json" } : {};
  return answered(path, { method, headers, body: body && JSON.stringify(body) });
}

export async function sendBytes(path, bytes, headers = {}) {
  return answered(path, { method: "POST", headers: { "Content-Type": "application/octet-stream", ...headers }, body: bytes });
}

async function answered(path, request) {
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Unreachable();
  }
  if (answer.ok) {
    try {
      return await answer.json();
    } catch {
      // The answer came from a proxy, or the connection broke.
      throw new Unreachable(t("unreadable_answer"));
    }
  }
  throw new Refused(answer.status, await answer.json().catch(() => ({})));
}
