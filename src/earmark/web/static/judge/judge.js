/* The page of an assessor: what comes next, from the link to the thanks. The server knows how far somebody is; the page
   asks it, shows it, and keeps in the browser only what was not acknowledged yet. */

import { Api, ApiError, makeKey } from "./api.js";
import { Asking } from "./asking.js";
import { button, el, fill } from "./dom.js";
import { Frame } from "./frame.js";
import { Keys } from "./keys.js";
import { followChosenLanguage, keepChosenLanguage } from "./language.js";
import { amplitude, keptLevel } from "./level.js";
import { Media } from "./media.js";
import { device, linkShelf, tabShelf } from "./memory.js";
import { Outbox } from "./outbox.js";
import { Player } from "./player.js";
import { reason } from "./refusals.js";
import { soundCheck } from "./sound-check.js";
import * as stages from "./stages.js";
import { number, t } from "./texts.js";
import { train } from "./training.js";

const AHEAD = 1;
const LOOK_AGAIN = 15_000;

class Judging {
  /** The question on the page. @type {Asking|null} */
  asking = null;
  /** Questions that are reserved, the current one first. */
  questions = [];
  /** Ids that were handed in from this page and are perhaps not acknowledged. */
  #handedIn = new Set();
  #reason = "";
  #timer = 0;
  #looking = null;
  /** Nothing is asked meanwhile: the page starts, there is a break, or somebody leaves.
   * @type {""|"starting"|"break"|"leaving"} */
  #rest = "";

  constructor(root) {
    this.frame = new Frame(root);
    this.say = this.frame.say;
    this.tell = this.frame.tell;
    this.use(location.pathname.split("/").filter(Boolean).pop());
    this.media = new Media((url) => this.api.media(url));
    this.player = new Player((url) => this.media.bytes(url));
    this.player.level = amplitude(keptLevel());
    this.player.addEventListener("interrupted", () => this.tell(t("interrupted")));
    this.player.addEventListener("failed", ({ detail }) => {
      if (detail.problem?.code === "unauthorised") this.fail(detail.problem);
    });
    this.keys = new Keys();
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.resync());
    window.addEventListener("pageshow", (event) => event.persisted && this.resync());
    setInterval(() => this.#showSaving(), 1_000);
  }

  /** Work with a token: that of the link, or of the person who joined by it. */
  use(token) {
    this.api = new Api(token);
    this.drafts = tabShelf(token);
    this.shelf = linkShelf(token);
    this.outbox = new Outbox(this.api, this.shelf);
    this.outbox.addEventListener("change", () => this.#showSaving());
    this.outbox.addEventListener("saved", (event) => this.#onSaved(event.detail));
    this.outbox.addEventListener("refused", (event) => this.#onRefused(event.detail));
    this.#showSaving();
  }

  /** Show a page in the place of the question. */
  show(element, title) {
    this.asking?.close();
    this.asking = null;
    clearTimeout(this.#timer);
    this.frame.show(element, title);
  }

  #showProgress(progress = this.session.progress) {
    this.session.progress = progress;
    this.frame.showSession(this.session, this.shelf.get("since", 0));
  }

  #showSaving() {
    this.frame.showSaving(this.outbox);
    this.asking?.refresh();
  }

  // What comes next.

  async start() {
    fill(this.frame.place, el("p", { class: "note", role: "status", text: t("loading") }));
    if (!(await this.#load())) return;
    // What an earlier page could not send goes first.
    this.#rest = "starting";
    const { letters } = this.outbox;
    for (const { body } of letters) this.#handedIn.add(body.id);
    await this.outbox.retry();
    if (letters.length && !(await this.#load())) return;
    this.route();
  }

  async #load() {
    try {
      this.session = await this.api.get("session");
      return true;
    } catch (problem) {
      this.fail(problem, () => this.start());
      return false;
    }
  }

  /** Show the stage at which the session is. */
  route(session = this.session) {
    this.session = session;
    this.campaign = session.campaign;
    this.#rest = "";
    this.#showProgress();
    const own = session.stage === "join" ? this.shelf.get("own") : null;
    if (session.state !== "open" && !own) {
      this.#notOpen(session.state);
      return;
    }
    const agree = () => this.#step("consent", { version: session.consent.version });
    const describe = (answers) => this.#step("questionnaire", { answers });
    const stage = {
      join: () => this.#offerToJoin(own),
      consent: () => this.show(stages.consentStage(session, agree)),
      questionnaire: () => this.show(stages.questionnaireStage(session.questionnaire, describe)),
      sound: () => this.#checkSound((details) => this.#step("prepared", { step: "sound", details })),
      training: () => this.#afterSoundCheck(() => this.#train()),
      judge: () => this.#afterSoundCheck(() => this.#begin()),
    }[session.stage];
    stage();
  }

  #checkSound(done) {
    const check = soundCheck(this.player, (details) => {
      device.set("sound", true);
      done(details);
    });
    this.show(stages.stage(t("sound_title"), check));
  }

  /** Go on, where the sound of this device was checked: the server knows of one device only. */
  #afterSoundCheck(go) {
    const { sound_check, audio } = this.campaign;
    if (sound_check && audio && !device.get("sound")) this.#checkSound(go);
    else go();
  }

  /** Do something that leads to the next stage, once. */
  async #step(path, body) {
    if (this.busy) return;
    this.busy = true;
    try {
      this.route(await this.api.post(path, body));
    } catch (problem) {
      // The consent text was changed meanwhile, for example: see what the server says now.
      if (problem instanceof ApiError && problem.status === 409 && (await this.#load())) this.route();
      else
        this.fail(
          problem,
          () => this.#step(path, body),
          () => this.route(),
        );
    } finally {
      this.busy = false;
    }
  }

  /** @param {{token: string, link: string}|null} own  the link of who joined before on this device */
  #offerToJoin(own) {
    const join = () => {
      // Somebody else gets a link of their own.
      if (own) this.shelf.set("key", makeKey());
      this.#join();
    };
    this.show(stages.joinStage(this.session, { join, goOn: own && (() => this.#become(own)) }));
  }

  async #join() {
    if (this.busy) return;
    this.busy = true;
    try {
      // The key is kept before it is sent: where the answer is lost, the same person joins once more.
      const key = this.shelf.get("key") ?? makeKey();
      this.shelf.set("key", key);
      const own = await this.api.post("join", { key });
      this.shelf.set("own", own);
      await this.#become(own);
    } catch (problem) {
      if (problem instanceof ApiError && problem.code === "full") this.#notOpen("full");
      else
        this.fail(
          problem,
          () => this.#join(),
          () => this.route(),
        );
    } finally {
      this.busy = false;
    }
  }

  /** Go on as the person to whom a link belongs. */
  async #become({ token, link }) {
    // From now on this is the address: a reload, and the link to keep.
    history.replaceState(null, "", link + location.search);
    this.use(token);
    this.shelf.set("joined", true);
    await this.start();
  }

  #notOpen(state) {
    if (["closed", "stopped", "enough"].includes(state) && this.session.stage !== "join") {
      this.#thank(state);
      return;
    }
    const saved = state === "paused" && this.frame.savedLine;
    this.show(stages.messageStage(t(`state_${state}_title`), t(`state_${state}`), saved));
    // A pause ends some time.
    if (state === "paused") this.#timer = setTimeout(() => this.#resume(), LOOK_AGAIN);
  }

  /** Something did not work: say so, and let it be tried again. */
  fail(problem, again, back = null) {
    if (!(problem instanceof ApiError)) console.error(problem);
    if (problem.code === "unauthorised") {
      this.show(stages.messageStage(t("revoked_title"), t("revoked")));
      return;
    }
    const retry = button(t("try_again"), { kind: "primary", press: again });
    const other = back && button(t("back"), { press: back });
    this.show(stages.messageStage(t("fail_title"), reason(problem), el("div", { class: "row" }, retry, other)));
    if (problem instanceof ApiError && problem.passing) this.#timer = setTimeout(again, 8_000);
  }

  async #train() {
    let questions;
    try {
      ({ questions } = await this.api.get("training"));
    } catch (problem) {
      this.fail(problem, () => this.#train());
      return;
    }
    const done = (details) => this.#step("prepared", { step: "training", details });
    const begin = () => {
      this.shelf.set("told", true);
      train(this, questions, done);
    };
    this.#introduce(begin);
  }

  // Questions.

  async #begin() {
    // Whoever comes for the first time is told what to do, unless it was said before the training.
    if (this.session.progress.answers === 0 && !this.shelf.get("told")) this.#introduce(() => this.#go());
    else await this.#go();
  }

  /** Say what to do. Who joined by an open link is shown the own one. */
  #introduce(go) {
    this.show(stages.introStage(this.session, go, this.shelf.get("joined") ? this.#ownLink() : null));
  }

  #ownLink() {
    return location.origin + location.pathname;
  }

  async #go() {
    this.#rest = "";
    this.shelf.set("told", true);
    await this.#look();
    this.#advance();
  }

  /** Ask the server which questions are out for this person. */
  #look() {
    this.#looking ??= this.#fetchQuestions().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #fetchQuestions() {
    try {
      const taken = await this.api.post("questions", { ahead: AHEAD });
      this.questions = taken.questions.filter((one) => !this.#handedIn.has(one.id)).map((one) => this.#received(one));
      this.#reason = taken.reason;
      this.#showProgress(taken.progress);
      this.#prefetch();
      return true;
    } catch (problem) {
      if (problem instanceof ApiError && problem.passing && this.questions.length) return false;
      if (problem instanceof ApiError && problem.status === 409 && (await this.#load())) {
        this.route();
        return false;
      }
      // Without a connection, what is on the page stays there.
      if (!(problem instanceof ApiError && problem.passing && this.asking)) this.fail(problem, () => this.#go());
      this.#reason = "failed";
      return false;
    }
  }

  #received(question) {
    return { ...question, received: this.api.now() };
  }

  #prefetch() {
    for (const { query, candidates, lists } of this.questions.slice(0, 1 + AHEAD)) {
      const shown = [query, ...(candidates ?? []), ...(lists ?? []).flat()];
      this.player.ahead(
        shown
          .flatMap(({ parts }) => parts)
          .filter((part) => part.kind === "audio")
          .map((part) => part.media),
      );
    }
  }

  /** Go to the next question, or say why there is none. */
  #advance() {
    const question = this.questions[0];
    if (question) {
      if (this.asking?.question.id === question.id) return;
      if (this.#pauseIsDue()) return;
      this.#askForReal(question);
      return;
    }
    if (!this.outbox.empty) {
      // The last answer is on its way; what comes next is known when it is there.
      this.show(stages.messageStage(t("saving_title"), t("saving_note")), t("saving_title"));
      return;
    }
    if (this.#reason === "failed") return;
    if (this.#reason === "wait" || this.#reason === "") {
      this.show(stages.messageStage(t("wait_title"), t("wait_note")));
      this.#timer = setTimeout(() => this.#go(), LOOK_AGAIN);
    } else if (this.#reason === "paused" || this.#reason === "rejected") this.#notOpen(this.#reason);
    else this.#thank(this.#reason);
  }

  #askForReal(question) {
    const last = this.shelf.get("last");
    const options = {
      answered: (body) => this.#handIn("answers", { ...body, key: makeKey() }),
      passed: (path, body) => this.#handIn(path, body),
      undo: last ? () => this.#undo() : null,
      undoesEarlier: Boolean(last?.passed),
      leave: () => this.leave(),
      blocked: () => (this.outbox.empty ? null : t("hint_unsaved")),
    };
    const unsaved = this.outbox.letters.filter(({ path }) => path === "answers").length;
    this.ask(question, options, t("title_question", { n: number(this.session.progress.answers + unsaved + 1) }));
  }

  /** Show a question. @returns {Asking} */
  ask(question, options, title) {
    const asking = new Asking(this, question, options);
    this.show(asking.element, title);
    this.asking = asking;
    asking.open();
    return asking;
  }

  /** Hand in an answer, a skip or a report, and go on. Its draft stays until the server has acknowledged it. */
  #handIn(path, body) {
    this.#handedIn.add(body.id);
    this.questions = this.questions.filter((one) => one.id !== body.id);
    const last = this.shelf.get("last");
    if (path === "answers") this.shelf.set("last", { id: body.id, draft: this.drafts.get(`draft.${body.id}`) });
    else if (last) this.shelf.set("last", { ...last, passed: true });
    this.player.stop();
    this.#countForPause(path === "answers");
    this.outbox.put(path, body);
    this.#advance();
  }

  async #onSaved({ letter, result }) {
    this.drafts.remove(`draft.${letter.body.id}`);
    this.#showProgress(result.progress);
    this.#showSaving();
    if (result.status === "elsewhere") {
      this.#forgetLast(letter);
      this.tell(t("elsewhere"));
    } else if (letter.path === "answers") this.say(t("saved"));
    // What the server is saying at this moment may be older than the answer.
    await this.#looking;
    this.#handedIn.delete(letter.body.id);
    if (await this.#rests()) return;
    await this.#look();
    // The question on the page stays there if it is still out.
    const current = this.asking?.question.id;
    if (this.#rest || this.asking?.options.training || this.questions.some((one) => one.id === current)) return;
    this.#advance();
  }

  /** The server has refused an answer for good: say so, and go on with what it asks now. */
  async #onRefused({ letter, problem }) {
    this.#handedIn.delete(letter.body.id);
    this.#forgetLast(letter);
    if (problem.code === "unauthorised") {
      this.fail(problem, () => this.start());
      return;
    }
    this.tell(t("refused", { why: reason(problem) }));
    if (await this.#rests()) return;
    if (await this.#load()) this.route();
  }

  /** Whether nothing is asked at the moment. Whoever is leaving leaves when nothing is on its way any more. */
  async #rests() {
    if (this.#rest === "leaving" && this.outbox.empty) await this.#left();
    return this.#rest !== "";
  }

  #forgetLast(letter) {
    if (this.shelf.get("last")?.id === letter.body.id) this.shelf.remove("last");
  }

  /** The page is looked at again: another tab or device may have gone on meanwhile. */
  async resync() {
    this.outbox.retry();
    if (!this.asking || this.asking.options.training || !this.outbox.empty) return;
    const before = this.asking.question.id;
    if (!(await this.#look()) || this.asking?.question.id !== before) return;
    if (this.questions.some((one) => one.id === before)) return;
    this.tell(t("elsewhere"));
    this.#advance();
  }

  async #undo() {
    const last = this.shelf.get("last");
    if (!last || this.busy) return;
    if (!this.outbox.empty) {
      this.tell(t("undo_later"));
      return;
    }
    this.busy = true;
    try {
      last.key ??= makeKey();
      this.shelf.set("last", last);
      const { question, progress } = await this.api.post("undo", { id: last.id, key: last.key });
      this.shelf.remove("last");
      this.#handedIn.delete(last.id);
      this.#showProgress(progress);
      if (!question) {
        this.tell(t("undo_gone"));
        return;
      }
      this.#countForPause(false, -1);
      // The comment of the answer is in the log already.
      const said = last.draft?.comment?.trim() ?? "";
      if (last.draft) this.drafts.set(`draft.${question.id}`, { ...last.draft, said });
      this.asking?.keep();
      this.questions = [this.#received(question), ...this.questions.filter((one) => one.id !== question.id)];
      this.#askForReal(this.questions[0]);
      if (last.passed) this.tell(t("undone_earlier"));
      else this.say(t("undone"));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      if (!problem.passing) this.shelf.remove("last");
      this.tell(problem.passing ? reason(problem) : t("undo_gone"));
    } finally {
      this.busy = false;
    }
  }

  // Pauses and the end.

  #countForPause(answer, by = 1) {
    const count = this.shelf.get("since", 0) + (answer || by < 0 ? by : 0);
    this.shelf.set("since", Math.max(0, count));
  }

  /** Suggest a pause after so many answers. */
  #pauseIsDue() {
    const after = this.campaign.pause_after;
    if (!after || this.shelf.get("since", 0) < after) return false;
    this.#rest = "break";
    const since = this.shelf.get("since", 0);
    const go = () => {
      this.shelf.set("since", 0);
      this.#go();
    };
    this.show(stages.pauseStage(since, this.frame.savedLine, go, () => this.leave()));
    return true;
  }

  /** Stop for now: when the last answer is saved, what is not answered goes back. */
  async leave() {
    this.asking?.keep();
    this.shelf.set("since", 0);
    this.#rest = "leaving";
    if (this.outbox.empty) {
      await this.#left();
      return;
    }
    const back = button(t("thanks_back"), { press: () => this.#resume() });
    this.show(stages.messageStage(t("saving_title"), t("leave_note"), this.frame.savedLine, back));
    this.outbox.retry();
  }

  async #left() {
    this.player.pause();
    await this.#looking;
    try {
      await this.api.post("leave");
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      // Nothing is lost: questions that are out come back by themselves.
    }
    await this.#thank("leave");
  }

  async #thank(why) {
    let done;
    try {
      done = await this.api.get("thanks");
    } catch (problem) {
      this.fail(problem, () => this.#thank(why));
      return;
    }
    const known = ["enough", "stopped", "closed", "done", "leave"].includes(why) ? why : "done";
    const last = this.shelf.get("last");
    this.show(
      stages.thanksStage(done, {
        reason: known,
        saved: done.answers > 0 || !this.outbox.empty ? this.frame.savedLine : null,
        back: known === "leave" ? () => this.#resume() : null,
        // The very last answer can be taken back too.
        undo: ["done", "enough"].includes(known) && last ? () => this.#undo() : null,
        undoLabel: t(last?.passed ? "undo_earlier_long" : "undo_long"),
        link: this.#ownLink(),
      }),
    );
  }

  async #resume() {
    if (await this.#load()) this.route();
  }

  /** What tests and curious people may look at. */
  get state() {
    return {
      stage: this.session?.stage,
      question: this.asking?.question.id ?? null,
      questions: this.questions.map((one) => one.id),
      outbox: this.outbox.state,
    };
  }
}

const app = new Judging(document.body);
window.__earmark = {
  player: app.player,
  get state() {
    return app.state;
  },
};
document.documentElement.classList.toggle("no-keys", !app.keys.on);
keepChosenLanguage();
if (!followChosenLanguage()) app.start();
