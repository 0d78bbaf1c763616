/* A row of choices that look like buttons and are radio buttons: arrows, Tab and screen readers know them. */

import { el } from "./dom.js";

let made = 0;

/**
 * @param {string} label  what is asked
 * @param {{value: string, text: string, key?: string, note?: string}[]} options
 * @param {{changed: (value: string) => void, hiddenLabel?: boolean, kind?: string, ends?: [string, string]}} how
 * @returns {{element: HTMLElement, value: string|null}}
 */
export function makeChoices(label, options, { changed, hiddenLabel = false, kind = "", ends = null }) {
  made += 1;
  const name = `choice-${made}`;
  const inputs = options.map(({ value }) =>
    el("input", { type: "radio", name, value, id: `${name}-${value}`, on: { change: () => changed(value) } }),
  );
  const endsId = ends ? `${name}-ends` : null;
  const element = el(
    "fieldset",
    { class: `choices ${kind}`.trim(), "aria-describedby": endsId, data: { count: options.length } },
    el("legend", { class: hiddenLabel ? "visually-hidden" : "", text: label }),
    el(
      "div",
      { class: "choices-row" },
      options.map(({ text, key, note }, index) =>
        el(
          "label",
          { class: "choice", for: inputs[index].id },
          inputs[index],
          el("span", { class: "choice-text", text }),
          note && el("span", { class: "choice-note", text: note }),
          key && el("kbd", { text: key, "aria-hidden": "true" }),
        ),
      ),
    ),
    ends &&
      el(
        "div",
        { class: "ends", id: endsId, "aria-hidden": "true" },
        ends.map((text) => el("span", { text })),
      ),
  );
  return {
    element,
    get value() {
      return inputs.find((input) => input.checked)?.value ?? null;
    },
    set value(value) {
      for (const input of inputs) input.checked = input.value === String(value);
    },
    focus() {
      (inputs.find((input) => input.checked) ?? inputs[0])?.focus();
    },
    /** Choose and say so, as a click does. */
    choose(value) {
      this.value = value;
      changed(String(value));
    },
  };
}
