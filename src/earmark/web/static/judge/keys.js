/* Keys for everything. A key does nothing while somebody types, in a dialog, or with Ctrl or the command key. Escape
   leaves a field. Single keys can be turned off, for people who speak to their computer. */

import { button, el, openDialog } from "./dom.js";
import { device } from "./memory.js";
import { t } from "./texts.js";

const TYPING =
  "input:not([type=radio], [type=checkbox], [type=range], [type=button]), textarea, select, [contenteditable]";
/* What has a use for space and Enter of its own, once somebody has gone there by keys. */
const PRESSABLE = "button, a[href], summary, input[type=checkbox], input[type=radio]";

export class Keys {
  /** What the last input was: for the record, and to tell a focus by keyboard from one by a click. */
  input = "mouse";
  #focusByKeys = false;
  /** What had the focus when a dialog opened, which gets it back, and whether somebody had gone there by keys. */
  #beforeDialog = { element: null, byKeys: false };
  /** @type {(event: KeyboardEvent) => boolean} */
  #handle = () => false;
  #help = () => [];

  constructor() {
    this.on = device.get("keys", true);
    document.addEventListener("keydown", (event) => this.#down(event));
    document.addEventListener(
      "pointerdown",
      (event) => {
        this.input = event.pointerType === "touch" ? "touch" : "mouse";
        this.#focusByKeys = false;
      },
      true,
    );
    document.addEventListener("focusin", (event) => this.#focused(event));
  }

  /** Note whether somebody has gone here by keys. What a dialog gives back is as it was, by whatever it was closed. */
  #focused({ target, relatedTarget }) {
    const { element, byKeys } = this.#beforeDialog;
    if (target.closest("dialog") && relatedTarget && !relatedTarget.closest("dialog"))
      this.#beforeDialog = { element: relatedTarget, byKeys: this.#focusByKeys };
    this.#focusByKeys = target === element ? byKeys : this.input === "keys";
    if (!target.closest("dialog")) this.#beforeDialog = { element: null, byKeys: false };
  }

  /**
   * @param {(event: KeyboardEvent) => boolean} handle  returns whether the key meant something
   * @param {() => [string[], string][]} help
   */
  use(handle, help) {
    this.#handle = handle;
    this.#help = help;
  }

  #down(event) {
    if (event.key !== "Shift") this.input = "keys";
    if (event.defaultPrevented || event.isComposing || belongsToBrowser(event)) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.matches(TYPING)) {
      if (event.key === "Escape") target.blur();
      // In a field of one line, Enter means: go on.
      if (event.key === "Enter" && target.matches("input") && this.#handle(event)) event.preventDefault();
      return;
    }
    const pressing = event.key === " " || (event.key === "Enter" && !target.matches("input"));
    if (pressing && target.matches(PRESSABLE) && (this.#focusByKeys || target.matches("a, summary"))) return;
    if (target.matches("input[type=range], input[type=radio]") && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    if (event.key === "?" && this.on) {
      event.preventDefault();
      this.showHelp();
      return;
    }
    const single = event.key.length === 1 && event.key !== " ";
    if (single && !this.on) return;
    if (event.repeat && event.key === "Enter") return event.preventDefault();
    if (this.#handle(event)) event.preventDefault();
  }

  /** All keys of the page as it is. */
  showHelp() {
    const rows = this.#help().map(([keys, text]) =>
      el(
        "tr",
        {},
        el(
          "th",
          { scope: "row" },
          keys.map((key, index) => [
            index > 0 && (keys.length === 2 && /^\d$/.test(key) ? " – " : " "),
            el("kbd", { text: key }),
          ]),
        ),
        el("td", { text }),
      ),
    );
    const check = el("input", { type: "checkbox", on: { change: () => this.turn(check.checked) } });
    check.checked = this.on;
    openDialog(
      t("keys"),
      el(
        "div",
        {},
        el("table", { class: "keys" }, el("tbody", {}, rows)),
        el("label", { class: "check" }, check, t("keys_on")),
        el("p", { class: "note", text: t("loop_note") }),
      ),
      (close) => [button(t("close"), { kind: "primary", press: () => close() })],
    );
  }

  turn(on) {
    this.on = on;
    device.set("keys", on);
    document.documentElement.classList.toggle("no-keys", !on);
  }
}

/** Whether a combination of keys means something to the browser. Alt and up or down moves things here. */
function belongsToBrowser(event) {
  // On many keyboards [ and ] are typed with AltGr, which some systems report as Ctrl and Alt.
  if (event.getModifierState("AltGraph")) return false;
  return event.ctrlKey || event.metaKey || (event.altKey && event.key !== "ArrowUp" && event.key !== "ArrowDown");
}
