// Ask the server.

export class Unreachable extends Error {
  constructor(message = "The server does not answer: is it running?") {
    super(message);
  }
}

// What the server refuses, with its status and whatever else it says.
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.what ? `${problem.what}: ${problem.what_to_do}` : `The server answered with status ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

export async function ask(path, body) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  return answered(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
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
      // A proxy in between, or a connection that broke.
      throw new Unreachable("The answer cannot be read: is it the server's?");
    }
  }
  throw new Refused(answer.status, await answer.json().catch(() => ({})));
}
