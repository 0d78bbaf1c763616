/* A waveform on a canvas, drawn from peaks. It is a slider for the position: click and keys seek, a drag chooses the
   stretch that is repeated. */

import { clock, el } from "./dom.js";
import { t } from "./texts.js";

/** Pixels that a pointer may move before a click becomes a drag. */
const SLACK = 6;
const STEP = 2;
/** Milliseconds between two times at which the place is told, less what a frame may be early. */
const SECOND = 980;

export class Waveform {
  #peaks = null;
  #drag = null;
  #style = null;
  /** What is drawn, and what assistive technology was told: neither is done again while it stays the same. */
  #drawn = "";
  #told = { text: "", jumps: 0, at: -Infinity };

  /**
   * @param {import("./player.js").Player} player
   * @param {import("./player.js").Track} track
   * @param {string} name  what the track is called
   */
  constructor(player, track, name) {
    this.player = player;
    this.track = track;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.element = el(
      "div",
      {
        class: "waveform",
        role: "slider",
        tabindex: "0",
        "aria-label": t("position_of", { name }),
        "aria-valuemin": "0",
        "aria-valuemax": track.seconds.toFixed(1),
        "aria-valuenow": "0",
        "aria-valuetext": clock(0),
        data: { track: track.id },
      },
      this.canvas,
    );
    this.element.addEventListener("pointerdown", (event) => this.#down(event));
    this.element.addEventListener("pointermove", (event) => this.#move(event));
    this.element.addEventListener("pointerup", (event) => this.#up(event));
    this.element.addEventListener("pointercancel", () => (this.#drag = null));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.size = new ResizeObserver(() => this.#resized());
    this.size.observe(this.element);
  }

  /** @param {{min: number[], max: number[]}} peaks  from -100 to 100 */
  show(peaks) {
    this.#peaks = peaks;
    this.#drawn = "";
    this.draw();
  }

  /** Colours follow the system, which may change while the page is open. */
  restyle() {
    this.#style = null;
    this.#drawn = "";
    this.draw();
  }

  close() {
    this.size.disconnect();
  }

  draw() {
    const { canvas, player, track } = this;
    this.#tell();
    const { width, height } = canvas;
    // Without a place in the page it has neither size nor colours.
    if (!width || !this.element.isConnected) return;
    const active = player.active === track.id;
    const place = Math.min(player.position / track.seconds, 1);
    const stretch = this.#chosen() ?? player.loop;
    // A bar more or less is enough where the clip is not the one that plays.
    const pixel = Math.round((place * width) / (active ? 1 : this.#step));
    const drawn = [active, pixel, stretch?.start, stretch?.end].join();
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const pen = canvas.getContext("2d");
    const colours = (this.#style ??= this.#colours());
    pen.clearRect(0, 0, width, height);
    if (stretch && stretch.start < track.seconds) {
      const left = (stretch.start / track.seconds) * width;
      const right = (Math.min(stretch.end, track.seconds) / track.seconds) * width;
      pen.fillStyle = colours.stretch;
      pen.fillRect(left, 0, right - left, height);
      pen.fillStyle = colours.played;
      for (const edge of [left, right - 2 * devicePixelRatio]) pen.fillRect(edge, 0, 2 * devicePixelRatio, height);
    }
    this.#bars(pen, colours, active ? place : -1);
    if (player.position > 0 || active) {
      pen.fillStyle = active ? colours.cursor : colours.shadow;
      const line = Math.max(2, Math.round(devicePixelRatio * 1.5));
      pen.fillRect(Math.min(place * width, width - line), 0, line, height);
    }
  }

  /** Tell assistive technology the place: at most once a second while it plays, and at once when somebody jumps. */
  #tell() {
    const { player, track } = this;
    const text = clock(Math.min(player.position, track.seconds));
    const jumped = player.jumps !== this.#told.jumps;
    const at = performance.now();
    if (text === this.#told.text || (player.playing && !jumped && at - this.#told.at < SECOND)) return;
    this.#told = { text, jumps: player.jumps, at };
    this.element.setAttribute("aria-valuenow", Math.min(player.position, track.seconds).toFixed(1));
    this.element.setAttribute("aria-valuetext", t("place_of", { place: text, length: clock(track.seconds) }));
  }

  /** Device pixels from one bar to the next. */
  get #step() {
    return Math.max(2, Math.round(devicePixelRatio * 3));
  }

  #bars(pen, colours, played) {
    const { width, height } = this.canvas;
    const step = this.#step;
    const bar = Math.max(1, Math.round(step * 0.66));
    const middle = height / 2;
    const bins = this.#peaks?.max.length ?? 0;
    for (let left = 0; left < width; left += step) {
      let low = 0;
      let high = 0;
      const last = Math.ceil(((left + step) / width) * bins);
      for (let bin = Math.floor((left / width) * bins); bin < Math.min(last, bins); bin += 1) {
        low = Math.min(low, this.#peaks.min[bin]);
        high = Math.max(high, this.#peaks.max[bin]);
      }
      const scale = this.#scale();
      const size = Math.max(devicePixelRatio * 2, Math.max(high, -low) * scale * height);
      pen.fillStyle = left / width < played ? colours.played : colours.bar;
      pen.fillRect(left, middle - size / 2, bar, size);
    }
  }

  /** Clips are quiet where they are loudness matched: the highest peak of each fills its canvas. */
  #scale() {
    if (!this.#peaks) return 0;
    this.#peaks.scale ??= 0.92 / Math.max(10, ...this.#peaks.max, ...this.#peaks.min.map((value) => -value));
    return this.#peaks.scale;
  }

  #colours() {
    const style = getComputedStyle(this.element);
    const colour = (name) => style.getPropertyValue(name).trim();
    return {
      bar: colour("--wave"),
      played: colour("--blue"),
      cursor: colour("--ink"),
      shadow: colour("--rule"),
      stretch: colour("--blue-soft"),
    };
  }

  #resized() {
    const { width, height } = this.element.getBoundingClientRect();
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    this.#drawn = "";
    this.draw();
  }

  // The pointer.

  #place(event) {
    const box = this.element.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.track.seconds;
  }

  #chosen() {
    if (!this.#drag?.moved) return null;
    const { from, to } = this.#drag;
    return { start: Math.min(from, to), end: Math.max(from, to) };
  }

  #down(event) {
    if (event.button > 0) return;
    const place = this.#place(event);
    this.#drag = { x: event.clientX, from: place, to: place, moved: false };
    this.element.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.#drag) return;
    this.#drag.to = this.#place(event);
    this.#drag.moved ||= Math.abs(event.clientX - this.#drag.x) > SLACK;
    this.draw();
  }

  #up() {
    if (!this.#drag) return;
    const stretch = this.#chosen();
    const place = this.#drag.to;
    this.#drag = null;
    if (this.player.active !== this.track.id) this.player.choose(this.track.id);
    if (stretch) this.player.setLoop(stretch);
    else this.player.seek(place);
    this.player.play(this.track.id);
  }

  #key(event) {
    const moves = {
      ArrowLeft: -STEP,
      ArrowDown: -STEP,
      ArrowRight: STEP,
      ArrowUp: STEP,
      PageDown: -5 * STEP,
      PageUp: 5 * STEP,
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.key in moves) && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    event.stopPropagation();
    if (this.player.active !== this.track.id) this.player.choose(this.track.id);
    if (event.key === "Home") this.player.seek(0);
    else if (event.key === "End") this.player.seek(this.track.seconds);
    else this.player.seek(this.player.position + moves[event.key]);
  }
}
