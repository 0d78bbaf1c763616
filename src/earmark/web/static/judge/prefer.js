/* Prefer: which of two candidates fits the query better, and by how much. */

import { makeChoices } from "./choices.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

export function preferForm(question, campaign, { changed, exhibition }) {
  const options = [
    { value: "first", text: t("better_a"), key: "←" },
    ...(campaign.allow_same ? [{ value: "same", text: t("same"), key: "↓" }] : []),
    { value: "second", text: t("better_b"), key: "→" },
  ];
  const choice = makeChoices(campaign.question ?? t("ask_prefer"), options, {
    changed: update,
    hiddenLabel: true,
    kind: "sides",
  });
  const strengths = Array.from({ length: campaign.strengths || 0 }, (_, index) => ({
    value: String(index + 1),
    text: String(index + 1),
  }));
  const strength = strengths.length
    ? makeChoices(t("ask_strength"), strengths, {
        changed: update,
        kind: "strengths",
        ends: [t("strength_low"), t("strength_high")],
      })
    : null;
  const holder = el("div", { class: "strength" }, strength?.element);
  const needsStrength = () => strength !== null && choice.value !== null && choice.value !== "same";

  function update() {
    holder.hidden = !needsStrength();
    changed();
  }
  holder.hidden = true;

  return {
    showing: el(
      "div",
      { class: "pair" },
      question.candidates.map((shown, side) =>
        exhibition.make(`candidate ${side}`, "AB"[side], shown, { key: "ab"[side] }),
      ),
    ),
    element: el("div", { class: "prefers" }, choice.element, strength && holder),
    value() {
      if (choice.value === null || (needsStrength() && strength.value === null)) return null;
      return { choice: choice.value, ...(needsStrength() ? { strength: Number(strength.value) } : {}) };
    },
    missing: () => t(choice.value === null ? "missing_prefer" : "missing_strength"),
    draft: () => ({ choice: choice.value, strength: strength?.value ?? null }),
    restore(draft) {
      if (draft.choice) choice.value = draft.choice;
      if (strength && draft.strength) strength.value = String(draft.strength);
      update();
    },
    doubt: () => null,
    key(event) {
      const side = { ArrowLeft: "first", ArrowRight: "second", ArrowDown: "same" }[event.key];
      if (side && (side !== "same" || campaign.allow_same)) {
        choice.choose(side);
        return true;
      }
      if (needsStrength() && /^[1-9]$/.test(event.key) && Number(event.key) <= strengths.length) {
        strength.choose(event.key);
        return true;
      }
      return false;
    },
    keys: () => [
      [["←", "→"], t("keys_prefer")],
      ...(campaign.allow_same ? [[["↓"], t("same")]] : []),
      ...(strength ? [[["1", String(strengths.length)], t("keys_strength")]] : []),
    ],
    fits: (answer, expected) => answer.choice === expected.choice,
    describe: (answer) => t({ first: "better_a", second: "better_b", same: "same" }[answer.choice] ?? "same"),
  };
}
