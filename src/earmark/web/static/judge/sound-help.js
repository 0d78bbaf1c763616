/* What to do where nothing is heard: said by the sound check, and during the questions. */

import { button, el, openDialog } from "./dom.js";
import { t } from "./texts.js";

export function soundHints() {
  return el(
    "ul",
    {},
    ["sound_hint_volume", "sound_hint_silent", "sound_hint_output"].map((key) => el("li", { text: t(key) })),
  );
}

export function openSoundHelp() {
  const body = el("div", {}, soundHints(), el("p", { class: "note", text: t("sound_hint_report") }));
  openDialog(t("sound_nothing"), body, (close) => [button(t("close"), { kind: "primary", press: () => close() })]);
}
