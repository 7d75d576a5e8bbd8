// Calls of the service. Every failure becomes a `Refused` with the server's own sentence.

export class Refused extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

let key = "";

export function useKey(text) {
  key = text;
}

export function hasKey() {
  return Boolean(key);
}

export async function methods() {
  return (await call("methods")).json();
}

/** What the server makes of a file's text: {instance, notes}. */
export async function parse(request) {
  return (await call("parse", request)).json();
}

/**
 * Solve, and hand over each improvement if there is a time limit. The answer is the best result; when `signal` ends the
 * call early, it is the best so far, or null.
 */
export async function solve(request, { onImprovement, signal }) {
  let best = null;
  try {
    if (request.time_limit === null) {
      const answer = await (await call("solve", request, { signal })).json();
      return answer.results[0];
    }
    const reply = await call("solve", request, { signal, accept: "text/event-stream" });
    for await (const { event, data } of events(reply.body)) {
      if (event === "error") throw new Refused(data.error);
      best = data.result ?? data;
      if (event === "improvement") onImprovement(best);
      if (event === "result") return best;
    }
    throw new Refused("the server ended the stream before its last result");
  } catch (error) {
    if (signal.aborted) return best;
    throw error;
  }
}

async function call(path, body = undefined, { signal, accept = "application/json" } = {}) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  let reply;
  try {
    reply = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("the server cannot be reached; is it still running?");
  }
  if (!reply.ok) throw new Refused(await sentenceOf(reply), reply.status);
  return reply;
}

async function sentenceOf(reply) {
  let sentence = `the server answered ${reply.status}`;
  try {
    sentence = (await reply.json()).error ?? sentence;
  } catch {
    // no JSON: the status has to do
  }
  const wait = reply.headers.get("Retry-After");
  return wait ? `${sentence} (try again in ${wait} s)` : sentence;
}

/** Server-sent events of a body, as {event, data}. */
async function* events(body) {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of chunks(body)) {
    text = (text + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    let end = text.indexOf("\n\n");
    while (end >= 0) {
      const found = eventOf(text.slice(0, end));
      if (found) yield found;
      text = text.slice(end + 2);
      end = text.indexOf("\n\n");
    }
  }
}

async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

function eventOf(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trim());
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
