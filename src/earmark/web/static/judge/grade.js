/* Grade: how good one candidate is for the query. On levels, on a range, or on both, of which one counts. */

import { makeChoices } from "./choices.js";
import { el } from "./dom.js";
import { number, t } from "./texts.js";

/** Two scales contradict each other when their answers are further apart than this share of the scale. */
const APART = 0.1;
/** In the training, an answer on a range is right within this share of it. */
const NEAR = 0.2;

/**
 * @typedef {{name: string, levels: number[]|null, low: number, high: number, step: number|null,
 *   labels: string[]|null}} Scale
 */

/** The form of a question of kind grade. */
export function gradeForm(question, campaign, { changed, exhibition }) {
  // The heading asks for the scale that comes first; the other one has a question of its own.
  const second = campaign.also?.levels && !campaign.scale.levels;
  const main = makeScale(campaign.scale, campaign, changed, !second);
  const also = campaign.also ? makeScale(campaign.also, campaign, changed, Boolean(second)) : null;
  // Levels first: a quick answer, then the finer one.
  const scales = also
    ? [main, also].sort((a, b) => Number(b.scale.levels !== null) - Number(a.scale.levels !== null))
    : [main];
  return {
    showing: exhibition.make("candidate 0", t("candidate"), question.candidates[0], { key: "a" }),
    element: el(
      "div",
      { class: "grades" },
      scales.map((one) => one.element),
    ),
    value() {
      if (main.value === null || (also && also.value === null)) return null;
      return { gain: main.value, ...(also ? { also: also.value } : {}) };
    },
    missing: () => t(also && (main.value !== null || also.value !== null) ? "missing_both" : "missing_grade"),
    wrong: () => scales.find((one) => one.wrong)?.wrong ?? null,
    draft: () => ({ gain: main.value, also: also?.value ?? null }),
    restore(draft) {
      if (draft.gain !== null && draft.gain !== undefined) main.value = draft.gain;
      if (also && draft.also !== null && draft.also !== undefined) also.value = draft.also;
    },
    /** A gentle question where the two answers contradict each other. */
    doubt() {
      if (!also) return null;
      const [first, second] = scales;
      const [one, other] = [band(first), band(second)];
      const apart = Math.max(one[0], other[0]) - Math.min(one[1], other[1]);
      return apart > APART ? t("contradiction", { one: first.words(), two: second.words() }) : null;
    },
    /** @returns {boolean} whether the key meant something */
    key(event) {
      const levels = scales.find((one) => one.scale.levels !== null);
      const range = scales.find((one) => one.scale.levels === null);
      if (/^[0-9]$/.test(event.key)) {
        if (levels) return levels.pick(event.key);
        return range.type(event.key);
      }
      const way = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1 }[event.key];
      if (way === undefined) return false;
      if (levels && (event.key === "ArrowLeft" || event.key === "ArrowRight")) return levels.move(way);
      if (range) return range.move(way * (event.shiftKey ? 10 : 1));
      return false;
    },
    keys() {
      const levels = scales.find((one) => one.scale.levels !== null);
      const range = scales.find((one) => one.scale.levels === null);
      return [
        [levels?.keys ?? ["0", "9"], t(levels ? "keys_level" : "keys_type")],
        ...(levels ? [[["←", "→"], t("keys_level_move")]] : []),
        ...(range ? [[levels ? ["↑", "↓"] : ["←", "→"], t("keys_range")]] : []),
      ];
    },
    fits(answer, expected) {
      const near = main.scale.levels ? 0 : NEAR * (main.scale.high - main.scale.low);
      return Math.abs(answer.gain - expected.gain) <= near;
    },
    describe: (expected) => main.describe(expected.gain),
  };
}

/** What an answer may mean on a scale from 0 to 1: a level stands for its part of the scale, a number for itself. */
function band({ scale, value }) {
  if (scale.levels) {
    const index = scale.levels.indexOf(value);
    return [index / scale.levels.length, (index + 1) / scale.levels.length];
  }
  const place = (value - scale.low) / (scale.high - scale.low || 1);
  return [place, place];
}

function makeScale(scale, campaign, changed, first) {
  const finer = { low: number(scale.low), high: number(scale.high) };
  const other = scale.levels === null ? t("ask_also", finer) : t("ask_also_levels");
  const label = first ? (campaign.question ?? t("ask_grade")) : other;
  return (scale.levels !== null ? makeLevels : makeRange)(scale, label, changed, first);
}

/** What a level is called: by the organiser, by us where the scale is a known one, else by its number. */
function levelName(scale, index) {
  if (scale.labels?.length === scale.levels.length) return scale.labels[index];
  const own = `level_${scale.name}_${index}`;
  const text = t(own);
  return text === own ? number(scale.levels[index]) : text;
}

/** The digits that choose levels. A level that is called by a digit is chosen by that one. */
function levelKeys(names) {
  if (names.every((name) => /^\d+$/.test(name))) return names.map((name) => (name.length === 1 ? name : ""));
  return names.map((_, index) => (index < 9 ? String(index + 1) : ""));
}

function makeLevels(scale, label, changed, first) {
  const names = scale.levels.map((_, index) => levelName(scale, index));
  const keys = levelKeys(names);
  const options = scale.levels.map((gain, index) => ({ value: String(gain), text: names[index], key: keys[index] }));
  const choices = makeChoices(label, options, { changed, hiddenLabel: first, kind: "levels" });
  return {
    scale,
    element: choices.element,
    get value() {
      return choices.value === null ? null : Number(choices.value);
    },
    set value(gain) {
      choices.value = String(gain);
    },
    words: () => names[scale.levels.indexOf(Number(choices.value))],
    describe: (gain) => names[scale.levels.indexOf(gain)] ?? number(gain),
    /** The first digit and the last one. */
    keys: [keys[0], keys.filter(Boolean).pop()],
    pick(digit) {
      if (!keys.includes(digit)) return false;
      choices.choose(scale.levels[keys.indexOf(digit)]);
      return true;
    },
    move(way) {
      const at =
        choices.value === null ? (way > 0 ? -1 : scale.levels.length) : scale.levels.indexOf(Number(choices.value));
      choices.choose(scale.levels[Math.min(scale.levels.length - 1, Math.max(0, at + way))]);
      return true;
    },
  };
}

let ranges = 0;

function makeRange(scale, label, changed, first) {
  ranges += 1;
  const step = scale.step ?? (scale.high - scale.low) / 100;
  const ends = scale.labels
    ? [scale.labels[0], scale.labels[scale.labels.length - 1]]
    : [t("range_low"), t("range_high")];
  let value = null;
  let wrong = null;
  const endsId = `ends-${ranges}`;
  const slider = el("input", {
    type: "range",
    "aria-describedby": endsId,
    min: scale.low,
    max: scale.high,
    step,
    "aria-label": label,
    class: "unset",
  });
  slider.value = String((scale.low + scale.high) / 2);
  const typed = el("input", {
    type: "number",
    min: scale.low,
    max: scale.high,
    step: scale.step ?? "any",
    class: "short numbers",
    inputmode: "decimal",
    "aria-label": t("typed_number", { low: number(scale.low), high: number(scale.high) }),
    placeholder: "–",
  });
  const set = (next, from, problem = null) => {
    value = next;
    wrong = problem;
    slider.classList.toggle("unset", value === null);
    if (value !== null && from !== slider) slider.value = String(value);
    if (from !== typed) typed.value = value === null ? "" : String(value);
    slider.setAttribute("aria-valuetext", value === null ? t("not_set") : number(value));
    if (wrong) typed.setAttribute("aria-invalid", "true");
    else typed.removeAttribute("aria-invalid");
    changed();
  };
  const rounded = (number_) => {
    const kept = Math.min(scale.high, Math.max(scale.low, number_));
    const exact = scale.step ? scale.low + Math.round((kept - scale.low) / scale.step) * scale.step : kept;
    return Math.round(exact * 1e6) / 1e6;
  };
  slider.addEventListener("input", () => set(rounded(Number(slider.value)), slider));
  // A click on the middle of a slider that is not set moves nothing, but means the middle.
  slider.addEventListener("pointerup", () => value === null && set(rounded(Number(slider.value)), slider));
  typed.addEventListener("input", () => {
    const given = typed.value === "" ? null : Number(typed.value);
    if (given === null) set(null, typed);
    else if (Number.isFinite(given) && given >= scale.low && given <= scale.high) set(rounded(given), typed);
    else set(null, typed, t("wrong_number", { low: number(scale.low), high: number(scale.high) }));
  });
  typed.addEventListener("change", () => value !== null && set(value, slider));
  slider.setAttribute("aria-valuetext", t("not_set"));
  return {
    scale,
    element: el(
      "div",
      { class: "range" },
      !first && el("p", { class: "range-label", "aria-hidden": "true", text: label }),
      el("div", { class: "range-row" }, slider, typed),
      el(
        "div",
        { class: "ends", id: endsId, "aria-hidden": "true" },
        ends.map((text, end) =>
          el("span", {}, el("strong", { class: "numbers", text: number(end ? scale.high : scale.low) }), ` ${text}`),
        ),
      ),
    ),
    get value() {
      return value;
    },
    /** What is wrong with what was typed, in words. */
    get wrong() {
      return wrong;
    },
    set value(next) {
      set(next, null);
    },
    words: () => number(value),
    describe: (gain) => number(gain),
    move(way) {
      const start = value ?? (scale.low + scale.high) / 2;
      set(rounded(start + way * step), null);
      return true;
    },
    /** A digit begins a number: the field takes it and what follows. */
    type(digit) {
      typed.focus();
      typed.value = digit;
      typed.dispatchEvent(new Event("input"));
      return true;
    },
  };
}
