/* The keys of a question: letters listen, digits and arrows answer. */

import { t } from "./texts.js";

const SEEK = 2;

/**
 * Do what a key means.
 * @param {import("./asking.js").Asking} asking
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it meant something
 */
export function pressKey(asking, event) {
  if (event.altKey && asking.question.kind !== "order" && !event.getModifierState("AltGraph")) return false;
  if (event.key === "Enter") {
    asking.submit();
    return true;
  }
  if (asking.form.key(event)) return true;
  const { player } = asking.app;
  const letter = event.key.toLowerCase();
  const listen = { q: "query", a: "candidate 0", b: "candidate 1" }[letter];
  if (listen && player.tracks.has(listen)) {
    player.play(listen);
    return true;
  }
  const { tools, options } = asking;
  const action = {
    " ": () => player.toggle(),
    k: () => player.toggle(),
    l: () => tools.toggleLoop(),
    "[": () => tools.setEdge("start"),
    "]": () => tools.setEdge("end"),
    ",": () => player.seek(player.position - SEEK),
    ".": () => player.seek(player.position + SEEK),
    i: () => tools.toggleKnown(),
    u: () => options.undo?.(),
    m: () => asking.openComment(),
    s: () => asking.skip(),
    x: () => asking.reportUnplayable(),
  }[letter];
  action?.();
  return action !== undefined;
}

/** All keys of a question, for the help. @returns {[string[], string][]} */
export function keyHelp(asking) {
  const { options, form, question } = asking;
  const letters = { grade: ["q", "a"], prefer: ["q", "a", "b"] }[question.kind] ?? ["q"];
  const { sound } = asking;
  const listening = [
    [[t("key_space"), "k"], t("keys_play")],
    [letters, t(`keys_listen_${question.kind}`)],
  ];
  const transport = [
    [["l"], t("keys_loop")],
    [["[", "]"], t("keys_edges")],
    [[",", "."], t("keys_seek")],
    [["i"], t("known")],
  ];
  const others = [
    ...(asking.commentFold ? [[["m"], t("comment")]] : []),
    [["s"], t("skip")],
    ...(options.training ? [] : [[["x"], t("does_not_play")]]),
  ];
  return [
    ...(sound ? listening : []),
    ...form.keys(),
    [["⏎"], t("next")],
    ...(options.undo ? [[["u"], t(options.undoesEarlier ? "undo_earlier_long" : "undo_long")]] : []),
    ...(sound ? transport : []),
    ...others,
    [["?"], t("keys")],
  ];
}
