/* Fetching clips, waveforms and pictures: a few at once, those of the question on the page first. What fails for now is
   tried again after a while. A file that waits here does not use up the time that it has to arrive. */

import { ApiError } from "./api.js";

/** Browsers open six connections to a server: two are left for answers. */
const AT_ONCE = 4;
/** Milliseconds before a file is tried again. */
const WAITS = [500, 1_500, 3_000];

export class Media {
  /** Addresses that go first: those of the question on the page. @type {Set<string>} */
  first = new Set();
  #waiting = [];
  #running = 0;

  /** @param {(path: string) => Promise<ArrayBuffer>} fetchBytes */
  constructor(fetchBytes) {
    this.fetchBytes = fetchBytes;
  }

  /** @returns {Promise<ArrayBuffer>} */
  bytes(path) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ path, resolve, reject, tries: 0 });
      this.#next();
    });
  }

  async json(path) {
    return JSON.parse(new TextDecoder().decode(await this.bytes(path)));
  }

  #next() {
    while (this.#running < AT_ONCE && this.#waiting.length) {
      const urgent = this.#waiting.findIndex(({ path }) => this.first.has(path));
      this.#run(this.#waiting.splice(Math.max(urgent, 0), 1)[0]);
    }
  }

  async #run(job) {
    this.#running += 1;
    try {
      job.resolve(await this.fetchBytes(job.path));
    } catch (problem) {
      this.#onProblem(job, problem);
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #onProblem(job, problem) {
    const wait = WAITS[job.tries];
    if (!(problem instanceof ApiError && problem.passing) || wait === undefined) {
      job.reject(problem);
      return;
    }
    job.tries += 1;
    // Many listeners are sent away at the same time: they should not come back at the same time.
    setTimeout(
      () => {
        this.#waiting.push(job);
        this.#next();
      },
      wait * (0.75 + Math.random() / 2),
    );
  }
}
