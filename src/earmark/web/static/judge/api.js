/* Talking with the server: one function, one kind of error. The token comes from the address of the page. */

/** Milliseconds until an answer must have begun, and until all of it must be there. */
const PATIENCE = 15_000;
const MEDIA_PATIENCE = 60_000;
const WHOLE = 3;

/** What went wrong. `code` is the server's, or "network" where no answer came. */
export class ApiError extends Error {
  constructor(code, message, status = 0) {
    super(message);
    this.code = code;
    this.status = status;
  }

  /** Whether asking again later may help. */
  get passing() {
    return this.code === "network" || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

export class Api {
  /** How far the clock of the server is ahead of ours, in milliseconds. */
  #ahead = 0;

  /** @param {string} token */
  constructor(token) {
    this.token = token;
  }

  get headers() {
    return { Authorization: `Bearer ${this.token}` };
  }

  /** The time of the server, in milliseconds. */
  now() {
    return Date.now() + this.#ahead;
  }

  /** @returns {Promise<*>} the JSON that came back */
  async get(path) {
    return this.#ask(path, {});
  }

  async post(path, body = {}) {
    return this.#ask(path, { method: "POST", body: JSON.stringify(body) });
  }

  async #ask(path, options) {
    const headers = {
      ...this.headers,
      Accept: "application/json",
      ...(options.body ? { "Content-Type": "application/json" } : {}),
    };
    const { answer, content } = await this.#fetch(`/api/judge/${path}`, { ...options, headers }, PATIENCE, readJson);
    if (content === undefined) throw new ApiError(answer.ok ? "network" : "server", answer.statusText, answer.status);
    if (!answer.ok) throw new ApiError(content?.error?.code ?? "server", content?.error?.message ?? "", answer.status);
    return content;
  }

  /** Bytes of a clip or a picture. @returns {Promise<ArrayBuffer>} */
  async media(path) {
    const read = (answer) => answer.arrayBuffer();
    const { answer, content } = await this.#fetch(path, { headers: this.headers }, MEDIA_PATIENCE, read);
    const code = answer.status === 401 ? "unauthorised" : "media";
    if (!answer.ok) throw new ApiError(code, answer.statusText, answer.status);
    return content;
  }

  async #fetch(path, options, patience, read) {
    const control = new AbortController();
    const abort = () => control.abort();
    let timer = setTimeout(abort, patience);
    try {
      const how = { cache: "default", credentials: "same-origin", ...options, signal: control.signal };
      const answer = await fetch(path, how);
      this.#setClock(answer.headers.get("Date"));
      clearTimeout(timer);
      timer = setTimeout(abort, WHOLE * patience);
      return { answer, content: await read(answer) };
    } catch (problem) {
      throw new ApiError("network", String(problem));
    } finally {
      clearTimeout(timer);
    }
  }

  #setClock(date) {
    const time = Date.parse(date ?? "");
    if (Number.isFinite(time)) this.#ahead = time - Date.now();
  }
}

/** The JSON of an answer; undefined where a proxy, for example, answers with a page. */
async function readJson(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A random key, made once for one answer. Works without a secure context. */
export function makeKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
