/* The language of the page: whoever has chosen another one than the server sends finds it again on this device. */

import { device } from "./memory.js";
import { pageLanguage } from "./texts.js";

/** Keep what is chosen at the foot of the page. */
export function keepChosenLanguage() {
  for (const link of document.querySelectorAll(".foot a[hreflang]"))
    link.addEventListener("click", () => device.set("language", link.hreflang));
}

/** Load the page in the chosen language, unless the address names one. @returns {boolean} whether it is on its way */
export function followChosenLanguage() {
  const chosen = device.get("language");
  const offered = document.querySelector(`.foot a[hreflang="${CSS.escape(chosen ?? "")}"]`);
  const address = new URL(location.href);
  if (!offered || chosen === pageLanguage || address.searchParams.has("language")) return false;
  address.searchParams.set("language", chosen);
  location.replace(address);
  return true;
}
