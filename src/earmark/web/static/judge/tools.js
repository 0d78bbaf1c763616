/* Tools for listening: repeat a stretch, the level, and whether one knows the song. */

import { button, clock, el, mark } from "./dom.js";
import { levelSlider } from "./level.js";
import { t } from "./texts.js";

/** Seconds that are repeated where no stretch was chosen. */
const STRETCH = 4;

export class Tools {
  /**
   * @param {import("./shown.js").Exhibition} exhibition
   * @param {boolean} rows  candidates are rows too small for a button that says one knows the song: there is one for the
   *   row that plays
   */
  constructor(exhibition, rows) {
    this.exhibition = exhibition;
    this.player = exhibition.player;
    this.loop = button(t("loop"), {
      kind: "small",
      shape: "loop",
      "aria-pressed": "false",
      press: () => this.toggleLoop(),
    });
    this.known = rows
      ? button(t("known"), { kind: "small", "aria-pressed": "false", press: () => this.toggleKnown() })
      : null;
    this.element = el(
      "div",
      { class: "tools", role: "group", "aria-label": t("listening") },
      this.loop,
      this.known,
      levelSlider(this.player),
    );
  }

  refresh() {
    const { loop } = this.player;
    const label = loop ? t("looping", { start: clock(loop.start), end: clock(loop.end) }) : t("loop");
    mark(this.loop, "aria-pressed", loop !== null);
    if (this.loop.lastChild.textContent !== label) this.loop.lastChild.textContent = label;
    const exhibit = this.exhibition.exhibits.get(this.player.active);
    if (!this.known || !exhibit) return;
    mark(this.known, "aria-pressed", this.exhibition.known.has(exhibit.id));
    mark(this.known, "aria-label", t("known_name", { name: exhibit.name }));
  }

  toggleLoop() {
    const start = Math.max(0, this.player.position - STRETCH / 2);
    this.player.setLoop(this.player.loop ? null : { start, end: start + STRETCH });
  }

  /** Repeat from here on, or up to here. @param {"start"|"end"} which */
  setEdge(which) {
    const { position } = this.player;
    const loop = this.player.loop ?? { start: position, end: position + STRETCH };
    this.player.setLoop(
      which === "start"
        ? { start: position, end: Math.max(loop.end, position + 1) }
        : { start: Math.min(loop.start, position - 1), end: position },
    );
  }

  toggleKnown() {
    const { active } = this.player;
    this.exhibition.know(active, !this.exhibition.known.has(active));
  }
}
