/* The page of an assessor: what comes next, from the link to the thanks. The server knows how far somebody is; the page
   asks it, shows it, and keeps in the browser only what was not acknowledged yet. */

import { Api, ApiError } from "./api.js";
import { Asking } from "./asking.js";
import { button, el, fill } from "./dom.js";
import { Ending } from "./ending.js";
import { Frame } from "./frame.js";
import { Joining } from "./joining.js";
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
import { t } from "./texts.js";
import { train } from "./training.js";
import { Turns } from "./turns.js";

const LOOK_AGAIN = 15_000;

class Judging {
  /** The question on the page. @type {Asking|null} */
  asking = null;
  /** Nothing is asked meanwhile: the page starts, there is a break, or somebody leaves.
   * @type {""|"starting"|"break"|"leaving"} */
  rest = "";
  #timer = 0;
  #busy = false;

  constructor(root) {
    this.frame = new Frame(root);
    this.say = this.frame.say;
    this.tell = this.frame.tell;
    this.turns = new Turns(this);
    this.joining = new Joining(this);
    this.ending = new Ending(this);
    this.use(location.pathname.split("/").filter(Boolean).pop());
    this.media = new Media((url) => this.api.media(url));
    this.player = new Player((url) => this.media.bytes(url));
    this.player.level = amplitude(keptLevel());
    this.player.addEventListener("interrupted", () => this.tell(t("interrupted")));
    this.player.addEventListener("failed", ({ detail }) => {
      if (detail.problem?.code === "unauthorised") this.fail(detail.problem);
    });
    this.keys = new Keys();
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.turns.resync());
    window.addEventListener("pageshow", (event) => event.persisted && this.turns.resync());
    setInterval(() => this.showSaving(), 1_000);
  }

  /** Work with a token: that of the link, or of the person who joined by it. */
  use(token) {
    this.api = new Api(token);
    this.drafts = tabShelf(token);
    this.shelf = linkShelf(token);
    this.outbox = new Outbox(this.api, this.shelf);
    this.outbox.addEventListener("change", () => this.showSaving());
    this.outbox.addEventListener("saved", (event) => this.turns.onSaved(event.detail));
    this.outbox.addEventListener("refused", (event) => this.turns.onRefused(event.detail));
    this.showSaving();
  }

  /** The link to keep. */
  get ownLink() {
    return location.origin + location.pathname;
  }

  // What is on the page.

  /** Show a page in the place of the question. */
  show(element, title) {
    this.asking?.close();
    this.asking = null;
    clearTimeout(this.#timer);
    this.frame.show(element, title);
  }

  /** Do something later, unless another page is shown before. */
  later(milliseconds, action) {
    this.#timer = setTimeout(action, milliseconds);
  }

  /** Show a question. @returns {Asking} */
  ask(question, options, title) {
    const asking = new Asking(this, question, options);
    this.show(asking.element, title);
    this.asking = asking;
    asking.open();
    return asking;
  }

  showProgress(progress = this.session.progress) {
    this.session.progress = progress;
    this.frame.showSession(this.session, this.shelf.get("since", 0));
  }

  showSaving() {
    this.frame.showSaving(this.outbox);
    this.asking?.refresh();
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
    if (problem instanceof ApiError && problem.passing) this.later(8_000, again);
  }

  // What comes next.

  async start() {
    fill(this.frame.place, el("p", { class: "note", role: "status", text: t("loading") }));
    if (!(await this.load())) return;
    // What an earlier page could not send goes first.
    this.rest = "starting";
    const { letters } = this.outbox;
    for (const { body } of letters) this.turns.noteHandedIn(body.id);
    await this.outbox.retry();
    if (letters.length && !(await this.load())) return;
    this.route();
  }

  /** Ask the server how far somebody is. @returns {Promise<boolean>} whether it has answered */
  async load() {
    try {
      this.session = await this.api.get("session");
      return true;
    } catch (problem) {
      this.fail(problem, () => this.start());
      return false;
    }
  }

  /** Show what the server says now. */
  async resume() {
    if (await this.load()) this.route();
  }

  /** Show the stage at which the session is. */
  route(session = this.session) {
    this.session = session;
    this.campaign = session.campaign;
    this.rest = "";
    this.showProgress();
    const own = session.stage === "join" ? this.joining.own : null;
    if (session.state !== "open" && !own) {
      this.notOpen(session.state);
      return;
    }
    const agree = () => this.#step("consent", { version: session.consent.version });
    const describe = (answers) => this.#step("questionnaire", { answers });
    const stage = {
      join: () => this.joining.offer(own),
      consent: () => this.show(stages.consentStage(session, agree)),
      questionnaire: () => this.show(stages.questionnaireStage(session.questionnaire, describe)),
      sound: () => this.#checkSound((details) => this.#step("prepared", { step: "sound", details })),
      training: () => this.#afterSoundCheck(() => this.#train()),
      judge: () => this.#afterSoundCheck(() => this.#begin()),
    }[session.stage];
    stage();
  }

  notOpen(state) {
    if (["closed", "stopped", "enough"].includes(state) && this.session.stage !== "join") {
      this.ending.thank(state);
      return;
    }
    const saved = state === "paused" && this.frame.savedLine;
    this.show(stages.messageStage(t(`state_${state}_title`), t(`state_${state}`), saved));
    // A pause ends some time.
    if (state === "paused") this.later(LOOK_AGAIN, () => this.resume());
  }

  leave() {
    return this.ending.leave();
  }

  // Before the first question.

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

  /** Do one thing at a time: what is asked for meanwhile does not happen. */
  async once(work) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await work();
    } finally {
      this.#busy = false;
    }
  }

  /** Do something that leads to the next stage, once. */
  #step(path, body) {
    return this.once(async () => {
      try {
        this.route(await this.api.post(path, body));
      } catch (problem) {
        // The consent text was changed meanwhile, for example: see what the server says now.
        if (problem instanceof ApiError && problem.status === 409 && (await this.load())) this.route();
        else
          this.fail(
            problem,
            () => this.#step(path, body),
            () => this.route(),
          );
      }
    });
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

  async #begin() {
    // Whoever comes for the first time is told what to do, unless it was said before the training.
    if (this.session.progress.answers === 0 && !this.shelf.get("told")) this.#introduce(() => this.turns.go());
    else await this.turns.go();
  }

  /** Say what to do. Who joined by an open link is shown the own one. */
  #introduce(go) {
    this.show(stages.introStage(this.session, go, this.joining.done ? this.ownLink : null));
  }

  /** What tests and curious people may look at. */
  get state() {
    return {
      stage: this.session?.stage,
      question: this.asking?.question.id ?? null,
      questions: this.turns.questions.map((one) => one.id),
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
