/* Pictures that the server draws: fetched anew when there is a new estimate, and swapped without a flicker. */

const NOT_MORE_OFTEN = 4000;
const shown = new Map();

/** Show the pictures of a state, and hide those that it has not. */
export function showPictures(state) {
  for (const figure of document.querySelectorAll("[data-figure]")) {
    const name = figure.dataset.figure;
    const there = (state.figures ?? []).includes(name);
    figure.hidden = !there;
    if (there) renew(figure, name, versionOf(state, name));
  }
}

/** What a picture depends on. */
function versionOf(state, name) {
  if (name === "forecast") return String(state.ahead?.judged);
  return name === "assessors" ? state.version : `${state.estimated} ${state.campaign.stop}`;
}

function renew(figure, name, version) {
  const known = shown.get(name) ?? { version: null, at: 0, timer: null };
  shown.set(name, known);
  known.wanted = version;
  if (known.version === version || known.timer) return;
  const wait = Math.max(0, known.at + NOT_MORE_OFTEN - Date.now());
  known.timer = setTimeout(() => {
    known.timer = null;
    known.at = Date.now();
    known.version = known.wanted;
    const image = figure.querySelector("img");
    const next = new Image();
    next.alt = image.alt;
    next.decoding = "async";
    next.addEventListener("load", () => {
      // The SVG states its size in points; on a screen letters should be as large as the words around them.
      next.width = Math.round(next.naturalWidth);
      image.replaceWith(next);
    });
    next.addEventListener("error", () => (known.version = null));
    next.src = `/organise/figures/${name}.svg?v=${encodeURIComponent(known.version)}`;
  }, wait);
}
