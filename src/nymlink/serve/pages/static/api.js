// Ask the server; a token is sent in a header, and kept for this tab only.

const TOKEN = "nymlink-token";

export class Refused extends Error {
  constructor(problem) {
    super(`${problem.what}: ${problem.what_to_do}`);
    this.status = problem.status;
  }
}

export function useToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export async function ask(path, body) {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer: is it running?");
  }
  if (!answer.ok) throw new Refused(await answer.json());
  return answer.json();
}
