/* A question is reserved for a while. Somebody who is at work on it keeps it: the time is prolonged once half of it is
   gone. A page that is only left open is not at work. */

/** Milliseconds between two requests, at least. */
const APART = 30_000;

export class Lease {
  #work = null;
  #asked = -Infinity;

  /**
   * @param {import("./api.js").Api} api
   * @param {{id: string, expires: string|null, received?: number}} question  received: by the clock of the server
   */
  constructor(api, question) {
    this.api = api;
    this.id = question.id;
    this.#set(question.expires, question.received);
  }

  #set(expires, from = this.api.now()) {
    this.from = from;
    this.until = expires ? Date.parse(expires) : Infinity;
  }

  /** Tell what was done so far. @param {string} work  anything that changes when somebody works on */
  note(work) {
    const worked = this.#work !== null && this.#work !== work;
    this.#work = work;
    const now = this.api.now();
    const due = this.until - now < (this.until - this.from) / 2 && now - this.#asked >= APART;
    if (!worked || !due) return;
    this.#asked = now;
    this.#renew();
  }

  async #renew() {
    try {
      const { expires } = await this.api.post("renew", { id: this.id });
      this.#set(expires);
    } catch {
      // The answer says whether the question was still ours.
    }
  }
}
