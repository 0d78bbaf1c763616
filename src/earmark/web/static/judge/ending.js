/* Breaks and the end: somebody rests, leaves for now, or is thanked. */

import { ApiError } from "./api.js";
import { button } from "./dom.js";
import * as stages from "./stages.js";
import { t } from "./texts.js";
import { undo } from "./undoing.js";

export class Ending {
  /** @param {Object} app  the page: see judge.js */
  constructor(app) {
    this.app = app;
  }

  /** Count answers since the last break. */
  count(by) {
    const { shelf } = this.app;
    shelf.set("since", Math.max(0, shelf.get("since", 0) + by));
  }

  /** Suggest a break after so many answers. @returns {boolean} whether it is time for one */
  offersBreak() {
    const { app } = this;
    const after = app.campaign.pause_after;
    const since = app.shelf.get("since", 0);
    if (!after || since < after) return false;
    app.rest = "break";
    const go = () => {
      app.shelf.set("since", 0);
      app.turns.go();
    };
    app.show(stages.pauseStage(since, app.frame.savedLine, go, () => this.leave()));
    return true;
  }

  /** Whether nothing is asked at the moment. Whoever is leaving leaves when nothing is on its way any more. */
  async rests() {
    if (this.app.rest === "leaving" && this.app.outbox.empty) await this.#left();
    return this.app.rest !== "";
  }

  /** Stop for now: when the last answer is saved, what is not answered goes back. */
  async leave() {
    const { app } = this;
    app.asking?.keep();
    app.shelf.set("since", 0);
    app.rest = "leaving";
    if (app.outbox.empty) {
      await this.#left();
      return;
    }
    const back = button(t("thanks_back"), { press: () => app.resume() });
    app.show(stages.messageStage(t("saving_title"), t("leave_note"), app.frame.savedLine, back));
    app.outbox.retry();
  }

  async #left() {
    const { app } = this;
    app.player.pause();
    await app.turns.settled();
    try {
      await app.api.post("leave");
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      // Nothing is lost: questions that are out come back by themselves.
    }
    await this.thank("leave");
  }

  async thank(why) {
    const { app } = this;
    let done;
    try {
      done = await app.api.get("thanks");
    } catch (problem) {
      app.fail(problem, () => this.thank(why));
      return;
    }
    const known = ["enough", "stopped", "closed", "done", "leave"].includes(why) ? why : "done";
    const last = app.shelf.get("last");
    app.show(
      stages.thanksStage(done, {
        reason: known,
        saved: done.answers > 0 || !app.outbox.empty ? app.frame.savedLine : null,
        back: known === "leave" ? () => app.resume() : null,
        // The very last answer can be taken back too.
        undo: ["done", "enough"].includes(known) && last ? () => undo(app) : null,
        undoLabel: t(last?.passed ? "undo_earlier_long" : "undo_long"),
        link: app.ownLink,
      }),
    );
  }
}
