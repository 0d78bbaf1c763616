/* The frame around what is asked: the bar on top with progress and what is saved, the banner when there is no
   connection, the title of the page, and what is said in passing. */

import { button, el, fill, icon } from "./dom.js";
import { counted, number, t } from "./texts.js";

const ICONS = { saved: "check", saving: "check", unsaved: "warning", refused: "warning", elsewhere: "warning" };
const SAYS = { refused: "not_taken", elsewhere: "not_counted" };
const LINES = { saving: "saved_soon", unsaved: "saved_not_yet", refused: "saved_but_one", elsewhere: "saved_elsewhere" };
/** Milliseconds for which something is shown that was said in passing, and how many such things at most. */
const SHOWN = 15_000;
const MOST = 3;

export class Frame {
  #started = false;
  #retryText = el("span", { class: "numbers" });

  /** @param {HTMLElement} root */
  constructor(root) {
    const find = (id) => root.querySelector(`#${id}`);
    this.place = find("stage");
    this.status = find("status");
    this.alert = find("alert");
    this.toasts = find("toasts");
    this.saved = find("saved");
    this.banner = find("banner");
    this.bar = find("progress");
    this.pilot = find("pilot");
    this.name = "";
    /** A sentence about where the answers are, for pages on which somebody may leave. It stays true by itself. */
    this.savedLine = el("p", { class: "saved-line" });
    this.say = this.say.bind(this);
    this.tell = this.tell.bind(this);
  }

  /** Tell screen readers what others see by themselves; urgent things at once. */
  say(text, { urgent = false } = {}) {
    const region = urgent ? this.alert : this.status;
    region.textContent = "";
    // A region that is filled in the same moment is not read again.
    setTimeout(() => (region.textContent = text), 30);
  }

  /** Tell everybody something that nothing else on the page shows. It goes away by itself, or when it is closed. */
  tell(text) {
    for (const one of [...this.toasts.children]) if (one.dataset.text === text) one.remove();
    const toast = el(
      "div",
      { class: "toast", data: { text } },
      el("p", { text }),
      button(t("close"), { kind: "small", press: () => toast.remove() }),
    );
    this.toasts.append(toast);
    while (this.toasts.children.length > MOST) this.toasts.firstChild.remove();
    // Whoever is reading it, or is about to close it, is not hurried.
    const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, SHOWN / 3) : toast.remove());
    setTimeout(leave, SHOWN);
  }

  title(text) {
    document.title = text && text !== this.name ? `${text} · ${this.name}` : this.name;
  }

  /** Show a page. Its heading takes the focus, unless the browser has just loaded all of it. */
  show(element, title = element.querySelector("h1")?.textContent ?? "") {
    fill(this.place, element);
    this.title(title);
    window.scrollTo(0, 0);
    if (this.#started) element.querySelector("h1")?.focus({ preventScroll: true });
    this.#started = true;
  }

  /**
   * @param {Object} session
   * @param {number} since  answers since the last break
   */
  showSession(session, since) {
    const { campaign, progress, stage } = session;
    this.name = campaign.title;
    this.pilot.hidden = !session.pilot;
    this.bar.hidden = stage === "join" || stage === "consent";
    const bar = this.bar.querySelector("progress");
    // Where one may answer without an end, the bar goes to the next break.
    const goal = progress.limit ?? campaign.pause_after;
    bar.hidden = !goal;
    bar.max = goal || 1;
    bar.value = progress.limit ? progress.answers : since;
    this.bar.querySelector(".progress-text").textContent = progress.limit
      ? t("progress_of", { n: number(progress.answers), of: number(progress.limit) })
      : counted("progress", progress.answers);
  }

  /** Show where the answers are. "Saved" is shown only when the server has said so. */
  showSaving(outbox) {
    const state = { sending: "saving", waiting: "unsaved", idle: outbox.outcome }[outbox.state];
    if (this.saved.dataset.state !== state) {
      this.saved.dataset.state = state;
      fill(this.saved, state && [icon(ICONS[state]), el("span", { text: t(SAYS[state] ?? state) })]);
    }
    const line = LINES[state] ?? "saved_all";
    if (this.savedLine.dataset.line !== line) {
      this.savedLine.dataset.line = line;
      this.savedLine.textContent = t(line);
    }
    this.#showBanner(outbox);
  }

  #showBanner(outbox) {
    const waiting = outbox.state === "waiting";
    // While it is tried again, the banner stays.
    const show = waiting || (outbox.state === "sending" && !this.banner.hidden);
    if (show && this.banner.hidden) this.#openBanner(outbox);
    this.banner.hidden = !show;
    if (!waiting) return;
    const seconds = Math.max(0, Math.ceil((outbox.nextTry - Date.now()) / 1000));
    this.#retryText.textContent = t("offline_retry", { n: number(seconds) });
  }

  #openBanner(outbox) {
    const title = t(outbox.problem?.status ? "busy_title" : "offline_title");
    const now = button(t("try_now"), { kind: "small", press: () => outbox.retry() });
    fill(
      this.banner,
      el("p", {}, el("strong", { text: title }), " ", t("offline_note")),
      el("div", { class: "row" }, this.#retryText, now),
    );
    this.say(`${title} ${t("offline_note")}`, { urgent: true });
  }
}
