/* Settings that may change while people judge: only what was changed is sent, and what the log recorded is said. */

import { announce, doing, errorPlace, get, h, post, t } from "./page.js";
import { begin } from "./frame.js";

const form = document.getElementById("settings");
const inputs = new Map();

begin(() => {});

function fieldFor(one) {
  const id = `set-${one.name.replace(".", "-")}`;
  const key = one.name.replace(".", "_");
  const note = h("p", { class: "note", id: `${id}-note` }, t(one.examples?.length === 3 ? `help_${key}_plain` : `help_${key}`));
  const about = { id, "aria-describedby": note.id, name: one.name };
  let input;
  if (one.type === "yes") {
    input = h("input", { ...about, type: "checkbox" });
    input.checked = Boolean(one.value);
    inputs.set(one.name, { input, read: () => input.checked, before: input.checked });
    return h("div", { class: "field" }, h("label", { class: "check" }, input, t(`set_${key}`)), note);
  }
  if (one.type === "choice") {
    const usual = one.optional ? [h("option", { value: "" }, t("as_usual"))] : [];
    const extra = one.value && !one.options.includes(one.value) ? [one.value] : [];
    input = h("select", about, ...usual, ...[...extra, ...one.options].map((option) => h("option", { value: option }, option)));
  } else if (one.type === "lines") input = h("textarea", { ...about, rows: 4 });
  else if (one.type === "text") input = h("input", { ...about, type: "text" });
  else input = h("input", { ...about, type: "number", class: "short", inputmode: "decimal", step: one.type === "whole" ? 1 : "any", min: 0 });
  // One trap in six questions is no number of seventeen digits; what nobody changes is not sent.
  input.value = typeof one.value === "number" ? Math.round(one.value * 1e4) / 1e4 : (one.value ?? "");
  const isNumber = ["number", "whole"].includes(one.type);
  const read = () => (input.value.trim() === "" ? null : isNumber ? Number(input.value) : input.value);
  inputs.set(one.name, { input, read, before: read() });
  const known = one.examples?.length ? h("datalist", { id: `${id}-examples` }, ...one.examples.map((value) => h("option", { value }))) : null;
  if (known) input.setAttribute("list", known.id);
  const wide = one.type === "lines" || one.name === "estimates.stop" || one.name === "pages.question";
  return h("div", { class: wide ? "field wide" : "field" }, h("label", { for: id }, t(`set_${key}`)), input, known, note);
}

async function load() {
  const told = await get("/api/organise/settings");
  inputs.clear();
  const groups = new Map();
  for (const one of told.settings) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  const cards = [...groups].map(([group, fields]) =>
    h("fieldset", { class: "card" }, h("legend", {}, t(`group_${group}`)), h("div", { class: "settings" }, ...fields.map(fieldFor))),
  );
  const error = errorPlace();
  const saved = h("div", { class: "banner good", hidden: true, tabindex: "-1", id: "saved" });
  const button = h("button", { type: "submit", class: "button primary" }, t("settings_save"));
  form.replaceChildren(...cards, h("div", { class: "save" }, error, saved, button));
  form.onsubmit = (event) => {
    event.preventDefault();
    saved.hidden = true;
    doing(button, error, async () => {
      const changes = {};
      for (const [name, one] of inputs) if (one.read() !== one.before) changes[name] = one.read();
      if (!Object.keys(changes).length) {
        show(saved, []);
        return;
      }
      const { recorded } = await post("/api/organise/settings", { changes });
      await load();
      show(document.getElementById("saved"), recorded);
    });
  };
}

function show(place, recorded) {
  place.hidden = false;
  const lines = recorded.map((line) => h("li", { lang: "en" }, line));
  place.replaceChildren(h("p", {}, t(recorded.length ? "settings_saved" : "settings_same")), lines.length ? h("ul", { class: "plain" }, ...lines) : "");
  place.focus();
  announce(t(recorded.length ? "settings_saved" : "settings_same"));
}

load().catch((problem) => {
  const error = errorPlace();
  error.hidden = false;
  error.textContent = problem.message;
  form.replaceChildren(error);
});
