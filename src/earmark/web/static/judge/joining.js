/* Joining by a link that several people may use: whoever joins gets a link of their own and goes on with that. */

import { ApiError, makeKey } from "./api.js";
import * as stages from "./stages.js";

export class Joining {
  /** @param {Object} app  session, shelf, api; show, once, use, start, route, notOpen, fail */
  constructor(app) {
    this.app = app;
  }

  /** The link of who joined before on this device. @returns {{token: string, link: string}|null} */
  get own() {
    return this.app.shelf.get("own");
  }

  /** Whether the person has joined by an open link. */
  get done() {
    return Boolean(this.app.shelf.get("joined"));
  }

  /** @param {{token: string, link: string}|null} own  the link of who joined before on this device */
  offer(own) {
    const { app } = this;
    const join = () => {
      // Somebody else gets a link of their own.
      if (own) app.shelf.set("key", makeKey());
      this.#join();
    };
    app.show(stages.joinStage(app.session, { join, goOn: own && (() => this.#become(own)) }));
  }

  #join() {
    const { app } = this;
    return app.once(async () => {
      try {
        // The key is kept before it is sent: where the answer is lost, the same person joins once more.
        const key = app.shelf.get("key") ?? makeKey();
        app.shelf.set("key", key);
        const own = await app.api.post("join", { key });
        app.shelf.set("own", own);
        await this.#become(own);
      } catch (problem) {
        if (problem instanceof ApiError && problem.code === "full") app.notOpen("full");
        else
          app.fail(
            problem,
            () => this.#join(),
            () => app.route(),
          );
      }
    });
  }

  /** Go on as the person to whom a link belongs. */
  async #become({ token, link }) {
    // From now on this is the address: a reload, and the link to keep.
    history.replaceState(null, "", link + location.search);
    this.app.use(token);
    this.app.shelf.set("joined", true);
    await this.app.start();
  }
}
