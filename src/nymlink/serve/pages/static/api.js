// Ask the server.

export async function ask(path, body) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  let answer;
  try {
    answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer: is it running?");
  }
  if (answer.ok) return answer.json();
  const problem = await answer.json();
  throw new Error(`${problem.what}: ${problem.what_to_do}`);
}
