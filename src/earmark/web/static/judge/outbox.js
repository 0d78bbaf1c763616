/* Answers on their way. An answer is put here first, then sent, and taken out when the server has acknowledged it.
   It is sent again with the same key until then, so nothing is lost and nothing counts twice. It outlives the page. */

import { ApiError } from "./api.js";

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 20_000;

/**
 * @typedef {{path: string, body: Object, kept: number}} Letter
 * @typedef {"idle"|"sending"|"waiting"} OutboxState
 */
export class Outbox extends EventTarget {
  /** What is on its way, the oldest first: one from this page, or all that earlier pages left. @type {Letter[]} */
  #letters;
  #timer = 0;
  #tries = 0;
  #sending = null;

  /**
   * @param {import("./api.js").Api} api
   * @param {{get: Function, set: Function, remove: Function}} shelf
   */
  constructor(api, shelf) {
    super();
    this.api = api;
    this.shelf = shelf;
    this.#letters = Object.values(shelf.get("outbox", {})).sort((a, b) => a.kept - b.kept);
    /** @type {OutboxState} */
    this.state = this.#letters.length ? "waiting" : "idle";
    /** What became of the last one: "saved", "refused", "elsewhere" where another one counts, "" where there was none. */
    this.outcome = "";
    /** Why the one on its way is not there yet. @type {ApiError|null} */
    this.problem = null;
    this.nextTry = 0;
    window.addEventListener("online", () => this.retry());
  }

  get empty() {
    return this.#letters.length === 0;
  }

  get letters() {
    return [...this.#letters];
  }

  /**
   * Keep an answer and send it. Resolves when the first attempt is over.
   * @param {string} path
   * @param {{key: string}} body
   */
  async put(path, body) {
    if (!this.empty) throw new Error("an answer is still on its way");
    const letter = { path, body, kept: Date.now() };
    this.#letters = [letter];
    this.shelf.set("outbox", { ...this.shelf.get("outbox", {}), [body.key]: letter });
    this.#tries = 0;
    // The one before may be acknowledged in this very moment.
    await this.#sending;
    return this.#send();
  }

  /** Try now. */
  async retry() {
    if (this.empty) return;
    clearTimeout(this.#timer);
    await this.#send();
  }

  #send() {
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #drain() {
    while (!this.empty && (await this.#attempt(this.#letters[0])));
  }

  /** @returns {Promise<boolean>} whether the server has read it */
  async #attempt(letter) {
    this.#become("sending");
    try {
      const result = await this.api.post(letter.path, letter.body);
      this.#finish(letter, result.status === "elsewhere" ? "elsewhere" : "saved");
      this.dispatchEvent(new CustomEvent("saved", { detail: { letter, result } }));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (problem.passing) {
        this.#wait(problem);
        return false;
      }
      // The server has read it and says no: asking again would not change that.
      this.#finish(letter, "refused");
      this.dispatchEvent(new CustomEvent("refused", { detail: { letter, problem } }));
    }
    return true;
  }

  #wait(problem) {
    this.problem = problem;
    this.#tries += 1;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.#tries - 1)) * (0.75 + Math.random() / 2);
    this.nextTry = Date.now() + wait;
    this.#timer = setTimeout(() => this.#send(), wait);
    this.#become("waiting");
  }

  #finish(letter, outcome) {
    clearTimeout(this.#timer);
    // Another tab may keep one of its own here: only this one is taken out.
    const { [letter.body.key]: _, ...others } = this.shelf.get("outbox", {});
    this.shelf.set("outbox", others);
    this.#letters = this.#letters.filter((one) => one !== letter);
    this.#tries = 0;
    this.problem = null;
    this.outcome = outcome;
    this.#become("idle");
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }
}
