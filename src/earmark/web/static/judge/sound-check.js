/* The sound check: count the beeps, and set a level at which music is comfortable. The beeps are made here. */

import { makeChoices } from "./choices.js";
import { button, el, fill } from "./dom.js";
import { amplitude, keptLevel, levelSlider } from "./level.js";
import { soundHints } from "./sound-help.js";
import { t } from "./texts.js";

const LEAST = 3;
const MOST = 6;
/** Seconds of a beep, and from one to the next. */
const LONG = 0.22;
const APART = 0.55;
/** About as loud as the clips. */
const LOUD = 0.12;
/** How often one may fail before going on is offered. */
const TRIES = 2;

/**
 * @param {import("./player.js").Player} player
 * @param {(details: Object) => void} done
 */
export function soundCheck(player, done) {
  let beeps = 0;
  let attempts = 0;
  /** What the beeps of one press go through. @type {GainNode|null} */
  let bus = null;
  const result = el("div", { role: "status", class: "check-result" });
  const play = button(t("sound_play"), { kind: "primary large", shape: "play", press: sound });
  const numbers = Array.from({ length: MOST - LEAST + 3 }, (_, index) => String(index + LEAST - 1));
  const answers = makeChoices(
    t("sound_ask"),
    numbers.map((value) => ({ value, text: value })),
    { changed: () => confirm.setAttribute("aria-disabled", "false"), kind: "counts", hiddenLabel: true },
  );
  // Arrow keys walk through the numbers: none of them is an answer before it is confirmed.
  const confirm = el("button", { type: "submit", class: "button primary", text: t("sound_confirm") });
  const question = el("form", { class: "count", novalidate: true, hidden: true }, answers.element, confirm);
  const silent = button(t("sound_nothing"), { kind: "quiet", hidden: true, press: () => explain(true) });
  question.addEventListener("submit", (event) => {
    event.preventDefault();
    count(answers.value);
  });
  player.level = amplitude(keptLevel());

  function sound() {
    const context = player.unlock();
    // A second press begins anew.
    bus?.disconnect();
    bus = context.createGain();
    bus.connect(player.output);
    const before = beeps;
    while (beeps === before) beeps = LEAST + Math.floor(Math.random() * (MOST - LEAST + 1));
    answers.value = null;
    confirm.setAttribute("aria-disabled", "true");
    let when = context.currentTime + 0.15;
    for (let beep = 0; beep < beeps; beep += 1) {
      tone(context, when, beep % 2 ? 587.33 : 440);
      // Uneven, so that they must be listened to.
      when += APART + (beep % 2 ? 0.25 : 0);
    }
    question.hidden = false;
    silent.hidden = false;
    fill(result);
    // What is to be done next is the one that stands out.
    play.classList.remove("primary");
    play.lastChild.textContent = t("sound_again");
  }

  function tone(context, when, pitch) {
    const gain = context.createGain();
    gain.gain.setValueAtTime(0, when);
    gain.gain.linearRampToValueAtTime(LOUD, when + 0.02);
    gain.gain.setValueAtTime(LOUD, when + LONG - 0.06);
    gain.gain.linearRampToValueAtTime(0, when + LONG);
    gain.connect(bus);
    for (const [multiple, share] of [
      [1, 0.7],
      [2, 0.2],
      [3, 0.1],
    ]) {
      const oscillator = context.createOscillator();
      const part = context.createGain();
      part.gain.value = share;
      oscillator.frequency.value = pitch * multiple;
      oscillator.connect(part).connect(gain);
      oscillator.start(when);
      oscillator.stop(when + LONG);
    }
  }

  function count(value) {
    if (value === null) return;
    attempts += 1;
    // A second guess at the same beeps would be a guess: the next try is at other ones.
    question.hidden = true;
    if (Number(value) === beeps) {
      silent.hidden = true;
      fill(result, el("p", { class: "banner good", text: t("sound_right") }), go(true));
      result.querySelector(".button").focus();
    } else {
      explain(false);
      play.classList.add("primary");
      play.focus();
    }
  }

  function explain(nothing) {
    if (nothing) attempts += 1;
    const text = el("p", { text: t(nothing ? "sound_silent" : "sound_wrong") });
    fill(result, el("div", { class: "banner warn" }, text, soundHints()), attempts >= TRIES && go(false));
  }

  function go(right) {
    const label = t(right ? "continue" : "sound_anyway");
    return button(label, {
      kind: right ? "primary large" : "",
      press: () => done({ right, attempts, level: Math.round(keptLevel() * 100) / 100 }),
    });
  }

  return el(
    "div",
    { class: "card stack sound-check" },
    el("p", { text: t("sound_note") }),
    el(
      "ol",
      { class: "steps" },
      el("li", {}, el("p", { text: t("sound_step_play") }), play),
      el("li", {}, el("p", { text: t("sound_step_level") }), levelSlider(player)),
      el("li", {}, el("p", { text: t("sound_step_count") }), question, silent),
    ),
    result,
  );
}
