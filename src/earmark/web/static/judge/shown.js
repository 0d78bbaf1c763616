/* What a question shows: a query and candidates, each with a clip, pictures, a score, a text or a link. One object
   looks after all of them: what plays, what was heard, what does not play, what the listener knows. */

import { button, clock, el, fill, icon, openDialog } from "./dom.js";
import { number, t } from "./texts.js";
import { Waveform } from "./waveform.js";

/** Seconds of a clip that does not say how long it is. */
const USUAL = 30;
/** Characters of a text that may need to scroll. */
const LONG = 400;

/**
 * @typedef {{kind: string, media?: string, peaks?: string, seconds?: number, text?: string, url?: string}} Part
 * @typedef {{title: string|null, parts: Part[]}} Shown
 * @typedef {{id: string, name: string, shown: Shown, element: HTMLElement, audio: Part|null, update: () => void,
 *   waveform: Waveform|null}} Exhibit
 */
export class Exhibition {
  /** @type {Map<string, Exhibit>} */
  exhibits = new Map();
  known = new Set();
  #addresses = [];
  #frame = 0;
  #control = new AbortController();

  /**
   * @param {import("./player.js").Player} player
   * @param {import("./media.js").Media} media
   * @param {{minimum: number, report: (id: string) => void, reportLabel: string, changed: () => void}} options
   */
  constructor(player, media, options) {
    this.player = player;
    this.media = media;
    media.first = new Set();
    this.options = options;
    const { signal } = this.#control;
    player.addEventListener("change", () => this.#tick(), { signal });
    window.addEventListener("online", () => this.#retryFetching(), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => this.#each((one) => one.waveform?.restyle()),
      { signal },
    );
  }

  /**
   * Make the element of a query or a candidate.
   * @param {string} id  "query", "candidate 0" ...
   * @param {string} name  what it is called on the page
   * @param {Shown} shown
   * @param {{compact?: boolean, key?: string, level?: number}} [look]  compact: a row of a list
   */
  make(id, name, shown, { compact = false, key = "", level = 2 } = {}) {
    for (const { media, peaks } of shown.parts) this.media.first.add(media).add(peaks);
    const clip = shown.parts.find((part) => part.kind === "audio");
    const audio = clip ? { ...clip, seconds: clip.seconds ?? USUAL } : null;
    const track = audio && { id, url: audio.media, seconds: audio.seconds };
    const waveform = track && new Waveform(this.player, track, name);
    const heading = el(
      `h${level}`,
      { class: "shown-name" },
      el("span", { text: name }),
      key && audio && el("kbd", { text: key, "aria-hidden": "true" }),
    );
    const listened = el("span", { class: "listened" });
    const trouble = el("div", { class: "trouble", role: "alert" });
    const known = !compact && audio && this.#knownToggle(id, name);
    const play = audio && this.#playButton(id, name, compact);
    const time = el("span", { class: "time numbers", "aria-hidden": "true" });
    const element = el(
      "section",
      { class: compact ? "shown compact" : "shown", "aria-label": name, data: { part: id } },
      el(
        "div",
        { class: "shown-head" },
        heading,
        shown.title && el("p", { class: "shown-title", text: shown.title }),
        known,
      ),
      audio &&
        el(
          "div",
          { class: "shown-sound" },
          play,
          el("div", { class: "shown-wave" }, waveform.element, el("div", { class: "shown-meta" }, listened, time)),
        ),
      this.#pictures(shown, name),
      shown.parts
        .filter((part) => part.kind === "text")
        // What is long scrolls in its own place, also by keys.
        .map(({ text }) => el("blockquote", { class: "shown-text", text, tabindex: text.length > LONG && "0" })),
      shown.parts.filter((part) => part.kind === "link").map((part) => this.#link(part, name)),
      trouble,
    );
    const exhibit = { id, name, shown, element, audio, waveform, known: known || null, update: () => {} };
    exhibit.update = () => this.#update(exhibit, { play, time, listened, trouble });
    this.exhibits.set(id, exhibit);
    if (audio) this.#fetchPeaks(exhibit);
    return element;
  }

  /** Give the player all clips; to be called once when everything is made. */
  begin(draft = {}) {
    const tracks = [...this.exhibits.values()]
      .filter((one) => one.audio)
      .map((one) => ({ id: one.id, url: one.audio.media, seconds: one.audio.seconds }));
    for (const id of draft.known ?? []) this.know(id, true);
    this.player.load(tracks, draft.heard);
    if (draft.switches) this.player.switches = draft.switches;
    this.#tick();
  }

  close() {
    this.player.stop();
    this.#control.abort();
    cancelAnimationFrame(this.#frame);
    this.#each((one) => one.waveform?.close());
    for (const address of this.#addresses) URL.revokeObjectURL(address);
  }

  // What counts for the answer.

  /**
   * What was not yet heard for long enough. A clip that does not play cannot be asked for.
   * @returns {{id: string, name: string, seconds: number}[]}
   */
  missing() {
    const found = [];
    for (const { id, name, audio } of this.exhibits.values()) {
      if (!audio || this.player.failed.has(id)) continue;
      const seconds = this.#wanted(audio) - this.player.secondsHeard(id);
      if (seconds > 0) found.push({ id, name, seconds });
    }
    return found;
  }

  /** For how long a clip has to be heard. It may be a few samples shorter than it says. */
  #wanted(audio) {
    return Math.min(this.options.minimum, Math.max(0, audio.seconds - 0.1));
  }

  get failed() {
    return [...this.player.failed.keys()];
  }

  details() {
    const heard = [...this.player.heard].map(([part, { plays, first }]) => ({
      part,
      seconds: Math.round(this.player.secondsHeard(part) * 100) / 100,
      plays,
      first_ms: first,
    }));
    return { heard, switches: this.player.switches, known: [...this.known] };
  }

  /** What a reload of the page should not lose. */
  draft() {
    const heard = Object.fromEntries(
      [...this.player.heard].map(([id, one]) => [id, { ...one, seconds: this.player.secondsHeard(id) }]),
    );
    return { heard, known: [...this.known], switches: this.player.switches };
  }

  // Parts of the element.

  #playButton(id, name, compact) {
    return el(
      "button",
      {
        type: "button",
        class: compact ? "play small" : "play",
        "aria-label": t("play_name", { name }),
        on: { click: () => this.player.toggle(id) },
      },
      icon("play"),
    );
  }

  #knownToggle(id, name) {
    const toggle = button(t("known"), {
      kind: "quiet small known",
      "aria-pressed": "false",
      "aria-label": t("known_name", { name }),
      press: () => this.know(id, !this.known.has(id)),
    });
    return toggle;
  }

  /** Note whether the listener knows a song. */
  know(id, value) {
    const exhibit = this.exhibits.get(id);
    if (!exhibit?.audio) return;
    if (value) this.known.add(id);
    else this.known.delete(id);
    exhibit.known?.setAttribute("aria-pressed", String(value));
    this.options.changed();
  }

  #pictures(shown, name) {
    const parts = shown.parts.filter((part) => part.kind === "image" || part.kind === "score");
    if (!parts.length) return null;
    const scores = parts.every((part) => part.kind === "score");
    return el(
      "ul",
      { class: scores ? "pictures scores" : "pictures", data: { count: parts.length } },
      parts.map((part, index) => {
        const words = { n: index + 1, of: parts.length, name };
        const text = parts.length > 1 ? t("picture_n", words) : t(part.kind === "score" ? "score" : "picture", words);
        const image = el("img", { alt: text });
        const frame = el(
          "button",
          {
            type: "button",
            class: "picture",
            "aria-label": t("enlarge", { what: text }),
            on: { click: () => this.#enlarge(image, text) },
          },
          image,
        );
        this.#fetchPicture(part, image, frame);
        return el("li", {}, frame);
      }),
    );
  }

  #link(part, name) {
    let host = part.url;
    try {
      host = new URL(part.url).host;
    } catch {
      // It is shown as it is.
    }
    return el(
      "p",
      { class: "shown-link" },
      el(
        "a",
        { class: "button", href: part.url, target: "_blank", rel: "noopener noreferrer" },
        t("open_link", { name, host }),
      ),
    );
  }

  async #fetchPicture(part, image, frame) {
    try {
      const address = URL.createObjectURL(new Blob([await this.media.bytes(part.media)]));
      this.#addresses.push(address);
      image.src = address;
      await image.decode();
    } catch {
      if (!this.#control.signal.aborted) fill(frame, el("span", { class: "note", text: t("picture_fails") }));
    }
  }

  #enlarge(image, text) {
    const large = el("img", { src: image.src, alt: text, class: "enlarged" });
    const box = openDialog(text, large, (close) => [button(t("close"), { press: () => close() })]);
    box.classList.add("wide");
  }

  async #fetchPeaks(exhibit) {
    if (!exhibit.audio.peaks) return;
    try {
      exhibit.waveform.show(await this.media.json(exhibit.audio.peaks));
    } catch {
      // The clip plays without its picture.
    }
  }

  // What changes while it plays.

  #tick() {
    cancelAnimationFrame(this.#frame);
    this.#each((one) => one.update());
    this.options.changed();
    if (this.player.playing) this.#frame = requestAnimationFrame(() => this.#tick());
  }

  #each(work) {
    for (const exhibit of this.exhibits.values()) work(exhibit);
  }

  #update(exhibit, { play, time, listened, trouble }) {
    const { id, name, audio, element, waveform } = exhibit;
    if (!audio) return;
    const { player } = this;
    const active = player.active === id;
    const on = active && player.playing;
    const failed = player.failed.get(id) ?? "";
    element.classList.toggle("active", active);
    element.classList.toggle("playing", on);
    element.classList.toggle("failed", failed !== "");
    waveform.draw();
    setText(time, active ? `${clock(player.position)} / ${clock(audio.seconds)}` : clock(audio.seconds));
    const shape = on ? (player.loading ? "loading" : "pause") : "play";
    if (play.dataset.shape !== shape) {
      play.dataset.shape = shape;
      fill(play, icon(shape === "loading" ? "pause" : shape));
      play.setAttribute("aria-label", t(on ? "pause_name" : "play_name", { name }));
    }
    play.toggleAttribute("disabled", failed !== "");
    this.#showListened(exhibit, listened);
    if (trouble.dataset.failed !== failed) {
      trouble.dataset.failed = failed;
      fill(trouble, failed && this.#trouble(exhibit, failed));
    }
  }

  #showListened({ id, audio }, place) {
    const wanted = this.#wanted(audio);
    const left = wanted - this.player.secondsHeard(id);
    const state = wanted <= 0 || this.player.failed.has(id) ? "" : left <= 0 ? "done" : String(Math.ceil(left));
    if (place.dataset.state === state) return;
    place.dataset.state = state;
    if (state === "") fill(place);
    else if (state === "done") fill(place, icon("check"), el("span", { text: t("heard") }));
    else fill(place, el("span", { text: t("seconds_left", { n: number(Number(state)) }) }));
  }

  #trouble({ id, name }, failed) {
    return [
      el(
        "p",
        {},
        icon("warning"),
        el("span", { text: t(failed === "network" ? "clip_unreachable" : "clip_fails", { name }) }),
      ),
      el(
        "div",
        { class: "row" },
        button(t("try_again"), { kind: "small", press: () => this.player.retry(id) }),
        button(this.options.reportLabel, { kind: "small", press: () => this.options.report(id) }),
      ),
    ];
  }

  #retryFetching() {
    for (const [id, reason] of [...this.player.failed]) if (reason === "network") this.player.retry(id);
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
