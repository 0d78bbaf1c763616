/* What all pages of the organiser share: words, numbers, elements, and requests that say what went wrong. */

const words = JSON.parse(document.getElementById("words").textContent);
const language = document.documentElement.lang || "en";
const numbers = new Intl.NumberFormat(language);
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** Return words of the catalogue, {names} replaced by values. */
export function t(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}

const plural = new Intl.PluralRules(language);

/** Words that depend on a number: `key_one` or `key_other`, in which {count} is the number. */
export function counted(key, value, values = {}) {
  const form = `${key}_${plural.select(value)}`;
  return t(form in words ? form : `${key}_other`, { count: count(value), ...values });
}

/** Tell whether the catalogue has words. */
export const has = (key) => key in words;

export const count = (value) => (value === null || value === undefined ? "–" : numbers.format(value));
export const time = (value) => (value ? clock.format(new Date(value)) : "–");
export const date = (value) => (value ? moment.format(new Date(value)) : "–");

/** Write a number with so many digits. */
export function fixed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Write a probability as a percentage that never claims more than there is: 94.96 is 94, .9996 is 99.9. */
export function percent(chance) {
  if (chance === null || chance === undefined) return "–";
  const share = 100 * chance;
  const shown = chance >= 1 ? 100 : share > 99 ? Math.min(Math.floor(share * 10 + 1e-9), 999) / 10 : Math.floor(share + 1e-9);
  return `${shown.toLocaleString(language)}%`;
}

/** Make an element: h("p", { class: "note" }, "text", child). Texts are always texts, never HTML. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Put text into an element if it differs, so that nothing is read out or selected anew without need. */
export function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** Say something to whoever cannot see it; once, and only what matters. */
export function announce(text) {
  say(document.getElementById("announced"), text);
}

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function answer(response) {
  if (response.ok) return response;
  let told = null;
  try {
    told = (await response.json()).error;
  } catch {
    /* Not from the app: a proxy, or the server is starting. */
  }
  if (response.status === 401) throw new Refused(401, "unauthorised", t("signed_out"));
  throw new Refused(response.status, told?.code ?? "server", told?.message ?? t("no_connection"));
}

async function request(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Refused(0, "offline", t("no_connection"));
  }
  return answer(response);
}

export const get = async (address) => (await request(address)).json();

const HEADERS = { "Content-Type": "application/json", "X-Earmark": "organiser" };
const posted = (body) => ({ method: "POST", headers: HEADERS, body: JSON.stringify(body) });

/** Do something: every action is a POST of JSON that carries a header which other sites cannot send. */
export const post = async (address, body = {}) => (await request(address, posted(body))).json();

/** Fetch a file and hand it to the browser to keep; with a body, making it changes something. */
export async function download(address, name, body = null) {
  const response = await request(address, body === null ? {} : posted(body));
  const link = h("a", { href: URL.createObjectURL(await response.blob()), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Do something that takes a moment: the button waits, and what goes wrong is said beside it. */
export async function doing(button, place, action) {
  if (button.getAttribute("aria-disabled") === "true") return undefined;
  const before = button.textContent;
  button.setAttribute("aria-disabled", "true");
  button.textContent = t("working");
  if (place) place.hidden = true;
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    const message = error instanceof Refused ? error.message : t("failed", { message: String(error) });
    if (place) {
      place.hidden = false;
      say(place, message);
    } else announce(message);
    return undefined;
  } finally {
    button.removeAttribute("aria-disabled");
    button.textContent = before;
  }
}

/** A place beside a form where errors are said. */
export const errorPlace = () => h("p", { class: "error", role: "alert", hidden: true });

/** Copy text; plain HTTP has no clipboard API, so the text is selected and copied as by hand. */
export async function copy(text, button) {
  let worked = false;
  try {
    if (window.isSecureContext && navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      worked = true;
    }
  } catch {
    /* Not allowed: the other way may be. */
  }
  if (!worked) {
    const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    (button.closest("dialog") ?? document.body).append(area);
    area.select();
    worked = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.textContent = worked ? t("copied") : t("copy_by_hand");
  announce(button.textContent);
  setTimeout(() => (button.textContent = before), 2500);
}

/** Say below a box that it scrolls, where it does, and let the keyboard reach it. */
export function watchScroll(box) {
  const words = t(box.classList.contains("drawn") ? "scrolls_picture" : "scrolls");
  const note = h("p", { class: "note scroll-note", hidden: true }, words);
  box.before(note);
  const look = () => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    note.hidden = !wide;
    if (wide) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  };
  new ResizeObserver(look).observe(box);
  // What is in it changes: rows are added, and a picture takes the place of another.
  new MutationObserver(look).observe(box, { childList: true, subtree: true });
  look();
}
