/* The level: a slider whose position is kept on this device. It only makes clips quieter; louder would distort. */

import { el, icon } from "./dom.js";
import { device } from "./memory.js";
import { share, t } from "./texts.js";

/** The position of the slider, 0 to 1, as an amplitude: 0 is silence, the rest spans 40 dB. */
export function amplitude(place) {
  return place <= 0 ? 0 : 10 ** ((place - 1) * 2);
}

export const keptLevel = () => device.get("level", 0.9);

export function levelSlider(player, { id = "level" } = {}) {
  const slider = el("input", { type: "range", id, min: 0, max: 100, step: 1 });
  const show = () => slider.setAttribute("aria-valuetext", share(Number(slider.value) / 100));
  slider.value = String(Math.round(keptLevel() * 100));
  show();
  slider.addEventListener("input", () => {
    const place = Number(slider.value) / 100;
    device.set("level", place);
    player.level = amplitude(place);
    show();
  });
  return el(
    "label",
    { class: "level", for: id },
    icon("volume"),
    el("span", { class: "level-name", text: t("level") }),
    slider,
  );
}
