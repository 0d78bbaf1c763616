/* The words of the pages. They come with the page, in its language; no visible word is written in a module. */

const element = document.getElementById("texts");
/** @type {Object<string, string>} */
const words = element ? JSON.parse(element.textContent) : {};
const language = document.documentElement.lang || "en";
const plural = new Intl.PluralRules(language);
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
const listing = new Intl.ListFormat(language, { style: "long", type: "conjunction" });

/**
 * The text of a key. `{name}` in it is replaced by values.name.
 * A key that has no text is shown as it is, so that it is found.
 */
export function t(key, values = {}) {
  const text = words[key];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}

/** A text that depends on a number: `key_one` or `key_other`, in which {n} is the number. */
export function counted(key, n, values = {}) {
  const form = `${key}_${plural.select(n)}`;
  return t(form in words ? form : `${key}_other`, { n: whole.format(n), ...values });
}

export const number = (value) => whole.format(value);
export const share = (value) => percent.format(value);
export const enumerate = (names) => listing.format(names);
export const pageLanguage = language;
