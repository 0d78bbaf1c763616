/* One question after the other: which ones are reserved, the one that is asked, and what becomes of its answer. */

import { ApiError, makeKey } from "./api.js";
import { reason } from "./refusals.js";
import * as stages from "./stages.js";
import { number, t } from "./texts.js";
import { undo } from "./undoing.js";

const AHEAD = 1;
const LOOK_AGAIN = 15_000;

export class Turns {
  /** Questions that are reserved, the current one first. */
  questions = [];
  /** Ids that were handed in from this page and are perhaps not acknowledged. */
  #handedIn = new Set();
  /** How many answers this person has given with the one that is on its way. */
  #given = 0;
  #reason = "";
  #looking = null;

  /** @param {Object} app  the page: see judge.js */
  constructor(app) {
    this.app = app;
  }

  async go() {
    this.app.rest = "";
    this.app.shelf.set("told", true);
    await this.#look();
    this.#advance();
  }

  // Which questions are out.

  /** Ask the server which questions are out for this person. */
  #look() {
    this.#looking ??= this.#fetch().finally(() => (this.#looking = null));
    return this.#looking;
  }

  /** Resolves when the server is not asked at the moment. */
  async settled() {
    await this.#looking;
  }

  async #fetch() {
    const { app } = this;
    try {
      const taken = await app.api.post("questions", { ahead: AHEAD });
      this.questions = taken.questions.filter((one) => !this.#handedIn.has(one.id)).map((one) => this.#received(one));
      this.#reason = taken.reason;
      app.showProgress(taken.progress);
      this.#prefetch();
      return true;
    } catch (problem) {
      if (problem instanceof ApiError && problem.passing && this.questions.length) return false;
      if (problem instanceof ApiError && problem.status === 409 && (await app.load())) {
        app.route();
        return false;
      }
      // Without a connection, what is on the page stays there.
      if (!(problem instanceof ApiError && problem.passing && app.asking)) app.fail(problem, () => this.go());
      this.#reason = "failed";
      return false;
    }
  }

  #received(question) {
    return { ...question, received: this.app.api.now() };
  }

  #prefetch() {
    for (const { query, candidates, lists } of this.questions.slice(0, 1 + AHEAD)) {
      const shown = [query, ...(candidates ?? []), ...(lists ?? []).flat()];
      this.app.player.ahead(
        shown
          .flatMap(({ parts }) => parts)
          .filter((part) => part.kind === "audio")
          .map((part) => part.media),
      );
    }
  }

  /** The page is looked at again: another tab or device may have gone on meanwhile. */
  async resync() {
    const { app } = this;
    app.outbox.retry();
    if (!app.asking || app.asking.options.training || !app.outbox.empty) return;
    const before = app.asking.question.id;
    if (!(await this.#look()) || app.asking?.question.id !== before) return;
    if (this.questions.some((one) => one.id === before)) return;
    app.tell(t("gone_elsewhere"));
    this.#advance();
  }

  // The question that is asked.

  /** Go to the next question, or say why there is none. */
  #advance() {
    const { app } = this;
    const question = this.questions[0];
    if (question) {
      if (app.asking?.question.id === question.id) return;
      if (app.ending.offersBreak()) return;
      this.#ask(question);
      return;
    }
    if (!app.outbox.empty) {
      // The last answer is on its way; what comes next is known when it is there.
      app.show(stages.messageStage(t("saving_title"), t("saving_note")), t("saving_title"));
      return;
    }
    if (this.#reason === "failed") return;
    if (this.#reason === "wait" || this.#reason === "") {
      app.show(stages.messageStage(t("wait_title"), t("wait_note")));
      app.later(LOOK_AGAIN, () => this.go());
    } else if (this.#reason === "paused" || this.#reason === "rejected") app.notOpen(this.#reason);
    else app.ending.thank(this.#reason);
  }

  #ask(question) {
    const { app } = this;
    const last = app.shelf.get("last");
    const options = {
      answered: (body) => this.#handIn("answers", { ...body, key: makeKey() }),
      passed: (path, body) => this.#handIn(path, body),
      undo: last ? () => undo(app) : null,
      undoesEarlier: Boolean(last?.passed),
      leave: () => app.leave(),
      blocked: () => (app.outbox.empty ? null : t("hint_unsaved")),
    };
    // What the server says may count the answer on its way already, or not yet.
    const unsaved = app.outbox.letters.some(({ path }) => path === "answers");
    const answers = Math.max(app.session.progress.answers, unsaved ? this.#given : 0);
    app.ask(question, options, t("title_question", { n: number(answers + 1) }));
  }

  /** Ask a question again whose answer was taken back. */
  askAgain(question) {
    this.app.asking?.keep();
    this.questions = [this.#received(question), ...this.questions.filter((one) => one.id !== question.id)];
    this.#ask(this.questions[0]);
  }

  // The answer.

  noteHandedIn(id) {
    this.#handedIn.add(id);
  }

  forgetHandedIn(id) {
    this.#handedIn.delete(id);
  }

  /** Hand in an answer, a skip or a report, and go on. Its draft stays until the server has acknowledged it. */
  #handIn(path, body) {
    const { app } = this;
    this.#handedIn.add(body.id);
    this.questions = this.questions.filter((one) => one.id !== body.id);
    const last = app.shelf.get("last");
    if (path === "answers") app.shelf.set("last", { id: body.id, draft: app.drafts.get(`draft.${body.id}`) });
    else if (last) app.shelf.set("last", { ...last, passed: true });
    app.player.stop();
    if (path === "answers") {
      app.ending.count(1);
      this.#given = app.session.progress.answers + 1;
    }
    app.outbox.put(path, body);
    this.#advance();
  }

  async onSaved({ letter, result }) {
    const { app } = this;
    app.drafts.remove(`draft.${letter.body.id}`);
    app.showProgress(result.progress);
    app.showSaving();
    if (result.status === "elsewhere") {
      this.#forgetLast(letter);
      app.tell(t("elsewhere"));
    } else if (letter.path === "answers") app.say(t("saved"));
    // What the server is saying at this moment may be older than the answer.
    await this.#looking;
    this.#handedIn.delete(letter.body.id);
    if (await app.ending.rests()) return;
    await this.#look();
    // The question on the page stays there if it is still out.
    const current = app.asking?.question.id;
    if (app.rest || app.asking?.options.training || this.questions.some((one) => one.id === current)) return;
    this.#advance();
  }

  /** The server has refused an answer for good: say so, and go on with what it asks now. */
  async onRefused({ letter, problem }) {
    const { app } = this;
    this.#handedIn.delete(letter.body.id);
    this.#forgetLast(letter);
    if (problem.code === "unauthorised") {
      app.fail(problem, () => app.start());
      return;
    }
    app.tell(t("refused", { why: reason(problem) }));
    if (await app.ending.rests()) return;
    await app.resume();
  }

  #forgetLast(letter) {
    const { shelf } = this.app;
    if (shelf.get("last")?.id === letter.body.id) shelf.remove("last");
  }
}
