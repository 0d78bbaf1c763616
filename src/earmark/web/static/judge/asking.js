/* One question on the page: what is shown, the answer, and all ways around it. The same for training and for real. */

import { makeKey } from "./api.js";
import { button, el, fill, mark } from "./dom.js";
import { gradeForm } from "./grade.js";
import { Lease } from "./lease.js";
import { listsForm } from "./lists.js";
import { orderForm } from "./order.js";
import { askSkip, askUnplayable } from "./passing.js";
import { preferForm } from "./prefer.js";
import { keyHelp, pressKey } from "./question-keys.js";
import { Exhibition } from "./shown.js";
import { openSoundHelp } from "./sound-help.js";
import { enumerate, number, t } from "./texts.js";
import { Tools } from "./tools.js";

/** Milliseconds between two times at which what was heard is kept. */
const KEEP = 500;

/**
 * The part of a question that its kind decides.
 * @typedef {Object} Form
 * @property {HTMLElement} showing  the candidates
 * @property {HTMLElement} element  where the answer is given
 * @property {() => Object|null} value  the answer; null while something is missing
 * @property {() => string} missing  what is missing, in words
 * @property {() => string|null} [wrong]  what is wrong with what was typed, in words
 * @property {() => Object} draft
 * @property {(draft: Object) => void} restore
 * @property {() => string|null} doubt  a gentle question about an answer that contradicts itself
 * @property {(event: KeyboardEvent) => boolean} key  does what a key means; false where it means nothing
 * @property {() => [string[], string][]} keys  its keys, for the help
 * @property {(answer: Object, expected: Object) => boolean} fits  whether an answer is the usual one, for the training
 * @property {(expected: Object) => string} describe  the usual answer in words
 */
const FORMS = { grade: gradeForm, prefer: preferForm, order: orderForm, lists: listsForm };
const IN_ROWS = ["order", "lists"];

/**
 * @typedef {Object} AskingOptions
 * @property {(body: Object) => void} answered  gets the answer without its key
 * @property {(path: string, body: Object) => void} passed  skipped, or does not play
 * @property {(() => void)|null} [undo]
 * @property {boolean} [undoesEarlier]  the last question was passed: undoing concerns the answer before it
 * @property {() => void} [leave]
 * @property {() => string|null} [blocked]  why no answer is taken at the moment
 * @property {string} [badge]
 * @property {boolean} [training]
 */
export class Asking {
  #keptAt = 0;
  #sent = false;
  #doubted = null;
  #attempted = false;
  /** The comment that the server has already, from before the answer was taken back. */
  #saidBefore = "";
  #control = new AbortController();

  /**
   * @param {Object} app  api, media, player, keys, campaign, drafts, say, tell
   * @param {Object} question
   * @param {AskingOptions} options
   */
  constructor(app, question, options) {
    this.app = app;
    this.question = question;
    this.options = options;
    const { campaign } = app;
    this.lease = options.training ? null : new Lease(app.api, question);
    this.exhibition = new Exhibition(app.player, app.media, {
      minimum: campaign.minimum_seconds ?? 0,
      report: (id) => this.reportUnplayable(id),
      reportLabel: t(options.training ? "training_skip" : "report_clip"),
      changed: () => this.refresh(),
    });
    const query = this.exhibition.make("query", t("query"), question.query, { key: "q" });
    const { exhibition } = this;
    const changed = () => this.#answerChanged();
    /** @type {Form} */
    this.form = FORMS[question.kind](question, campaign, { changed, exhibition, say: app.say });
    this.tools = new Tools(exhibition, IN_ROWS.includes(question.kind));
    this.hint = el("p", { class: "hint", id: "hint" });
    this.doubt = el("div", { class: "doubt banner warn", role: "alert", hidden: true });
    this.next = el(
      "button",
      { type: "submit", class: "button primary large next", "aria-describedby": "hint" },
      el("span", { text: t("next") }),
      el("kbd", { text: "⏎", "aria-hidden": "true" }),
    );
    this.comment = el("textarea", { id: "comment", maxlength: "2000", rows: "2" });
    this.comment.addEventListener("input", () => this.keep());
    this.element = this.#layout(query);
  }

  // The page.

  #layout(query) {
    const { question, options, app } = this;
    this.sound = [...this.exhibition.exhibits.values()].some((one) => one.audio);
    return el(
      "div",
      { class: `asking asking-${question.kind}`, data: { question: question.id } },
      el(
        "div",
        { class: "asking-head" },
        options.badge && el("p", { class: "badge blue", text: options.badge }),
        el("h1", { tabindex: "-1", text: app.campaign.question ?? t(`ask_${question.kind}`) }),
      ),
      el("div", { class: "showing" }, query, this.form.showing),
      this.sound && this.tools.element,
      this.#answer(),
      this.#asides(),
    );
  }

  #answer() {
    const { undo, undoesEarlier } = this.options;
    const press = () => undo();
    const [text, label] = undoesEarlier ? ["undo_earlier", "undo_earlier_long"] : ["undo", "undo_long"];
    const kind = undoesEarlier ? "quiet undo earlier" : "quiet undo";
    const form = el(
      "form",
      { class: `answer answer-${this.question.kind}`, "aria-label": t("your_answer"), novalidate: true },
      this.form.element,
      this.doubt,
      el(
        "div",
        { class: "answer-foot" },
        undo && button(t(text), { kind, shape: "undo", press, "aria-label": t(label), title: t(label) }),
        this.hint,
        this.next,
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    return form;
  }

  #asides() {
    const { options, app } = this;
    const aside = (key, press) => button(t(key), { kind: "quiet small", press });
    return el(
      "div",
      { class: "asides" },
      app.campaign.comments && !options.training && this.#commentBox(),
      aside("skip", () => this.skip()),
      !options.training && aside("does_not_play", () => this.reportUnplayable()),
      this.sound && aside("sound_nothing", openSoundHelp),
      options.leave && aside("stop_for_now", () => options.leave()),
      button(t("keys"), { kind: "quiet small help", press: () => app.keys.showHelp() }),
    );
  }

  #commentBox() {
    this.commentFold = el(
      "details",
      { class: "comment" },
      el("summary", { text: t("comment") }),
      el("label", { class: "visually-hidden", for: "comment", text: t("comment_label") }),
      this.comment,
    );
    return this.commentFold;
  }

  openComment() {
    if (!this.commentFold) return;
    this.commentFold.open = true;
    this.comment.focus();
  }

  /** Begin, once it is on the page. What was typed and heard before a reload is there again. */
  open() {
    const draft = this.app.drafts.get(`draft.${this.question.id}`, {});
    this.elapsed = draft.elapsed ?? 0;
    this.opened = performance.now();
    this.exhibition.begin(draft);
    if (draft.form) this.form.restore(draft.form);
    this.#saidBefore = draft.said ?? "";
    if (draft.comment) {
      this.comment.value = draft.comment;
      if (this.commentFold) this.commentFold.open = true;
    }
    this.#answerChanged();
    this.app.keys.use(
      (event) => pressKey(this, event),
      () => keyHelp(this),
    );
    window.addEventListener("pagehide", () => this.keep(), { signal: this.#control.signal });
  }

  close() {
    this.#control.abort();
    this.exhibition.close();
    this.app.keys.use(
      () => false,
      () => [],
    );
  }

  // The answer.

  /** Why the answer cannot be taken yet, in words; null if it can. */
  #obstacle() {
    const blocked = this.options.blocked?.();
    if (blocked) return blocked;
    const wrong = this.form.wrong?.();
    if (wrong) return wrong;
    const { failed, exhibits } = this.exhibition;
    if (failed.length) {
      const names = enumerate(failed.map((id) => exhibits.get(id)?.name ?? id));
      return t(this.options.training ? "hint_fails_practice" : "hint_fails", { names });
    }
    const missing = this.exhibition.missing();
    if (missing.length > 3) return t("hint_listen_many", { n: number(missing.length) });
    if (missing.length) {
      const parts = missing.map(({ name, seconds }) => t("hint_part", { name, n: number(Math.ceil(seconds)) }));
      return t("hint_listen", { names: enumerate(parts) });
    }
    return this.form.value() === null ? this.form.missing() : null;
  }

  /** Show what changed: something plays, was heard, was answered, was saved. */
  refresh() {
    if (this.opened === undefined) return;
    const obstacle = this.#obstacle();
    const text = obstacle ?? t("hint_ready");
    if (this.hint.textContent !== text) this.hint.textContent = text;
    mark(this.next, "aria-disabled", obstacle !== null);
    if (obstacle === null) this.#attempted = false;
    this.hint.classList.toggle("attempted", this.#attempted);
    this.tools.refresh();
    if (performance.now() - this.#keptAt > KEEP) this.keep();
  }

  #answerChanged() {
    this.#doubted = null;
    this.doubt.hidden = true;
    this.refresh();
    this.keep();
  }

  /** Keep what was typed and heard in this tab. */
  keep() {
    if (this.#sent || this.opened === undefined) return;
    this.#keptAt = performance.now();
    const work = { form: this.form.draft(), comment: this.comment.value, ...this.exhibition.draft() };
    this.lease?.note(JSON.stringify(work));
    this.app.drafts.set(`draft.${this.question.id}`, { ...work, said: this.#saidBefore, elapsed: this.#seconds() });
  }

  /** What was typed as a comment and is not known to the server. */
  #newComment() {
    const comment = this.comment.value.trim();
    return comment === this.#saidBefore ? "" : comment;
  }

  #seconds() {
    return Math.round((this.elapsed + (performance.now() - this.opened) / 1000) * 10) / 10;
  }

  /** Hand in the answer, if it is one. Once. */
  submit() {
    if (this.#sent) return;
    const obstacle = this.#obstacle();
    if (obstacle) {
      this.#attempted = true;
      this.refresh();
      this.app.say(obstacle, { urgent: true });
      return;
    }
    const doubt = this.form.doubt();
    if (doubt && doubt !== this.#doubted) {
      this.#doubted = doubt;
      fill(this.doubt, el("p", { text: doubt }), el("p", { class: "note", text: t("contradiction_go_on") }));
      this.doubt.hidden = false;
      return;
    }
    const details = { ...this.exhibition.details(), seconds: this.#seconds(), input: this.app.keys.input };
    const body = { id: this.question.id, ...this.form.value(), details };
    const comment = this.#newComment();
    if (comment) body.comment = comment;
    this.keep();
    this.#sent = true;
    this.options.answered(body);
  }

  // Ways around it.

  skip() {
    if (this.options.training) this.#pass("skip", {});
    else askSkip((body) => this.#pass("skip", body));
  }

  /** Say which part does not play, which is no answer. @param {string|null} id  the part, if it is known */
  reportUnplayable(id = null) {
    // Practice is only skipped: the organiser hears of a clip from those who judge it.
    if (this.options.training) this.skip();
    else askUnplayable([...this.exhibition.exhibits.values()], id, (body) => this.#pass("unplayable", body));
  }

  #pass(path, body) {
    if (this.#sent) return;
    const blocked = this.options.blocked?.();
    if (blocked) {
      this.app.tell(blocked);
      return;
    }
    this.keep();
    this.#sent = true;
    const text = [this.#newComment(), body.text].filter(Boolean).join("\n");
    this.options.passed(path, { id: this.question.id, key: makeKey(), ...body, text });
  }
}
