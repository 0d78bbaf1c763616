/* Ways around an answer: skipping a question, and saying what does not play. Both ask first. */

import { makeChoices } from "./choices.js";
import { button, el, openDialog } from "./dom.js";
import { t } from "./texts.js";

/** @param {(body: {text: string}) => void} send */
export function askSkip(send) {
  const text = el("textarea", { id: "skip-text", maxlength: "500", rows: "2" });
  const body = el(
    "div",
    {},
    el("p", { text: t("skip_note") }),
    el("div", { class: "field" }, el("label", { for: "skip-text", text: t("skip_why") }), text),
  );
  openDialog(t("skip_title"), body, (close) => {
    const skip = () => {
      close();
      send({ text: text.value.trim() });
    };
    return [button(t("cancel"), { press: () => close() }), button(t("skip_confirm"), { kind: "primary", press: skip })];
  });
}

/**
 * @param {{id: string, name: string}[]} parts  what may be wrong
 * @param {string|null} chosen  the part that is known to be
 * @param {(body: {part: string, text: string}) => void} send
 */
export function askUnplayable(parts, chosen, send) {
  const problem = el("p", { class: "error", role: "alert" });
  const choices = makeChoices(
    t("unplayable_which"),
    parts.map(({ id, name }) => ({ value: id, text: name })),
    { changed: () => (problem.textContent = ""), kind: "parts" },
  );
  if (chosen) choices.value = chosen;
  const text = el("textarea", { id: "unplayable-text", maxlength: "500", rows: "2" });
  const body = el(
    "div",
    {},
    el("p", { text: t("unplayable_note") }),
    choices.element,
    el("div", { class: "field" }, el("label", { for: "unplayable-text", text: t("unplayable_text") }), text),
    problem,
  );
  openDialog(t("unplayable_title"), body, (close) => {
    const report = () => {
      const part = choices.value;
      problem.textContent = part === null ? t("unplayable_choose") : "";
      if (part === null) return;
      close();
      send({ part, text: text.value.trim() });
    };
    return [
      button(t("cancel"), { press: () => close() }),
      button(t("unplayable_confirm"), { kind: "primary", press: report }),
    ];
  });
}
