/* The pages around the questions: joining, consent, questionnaire, pauses, the end, and what is said when nothing can
   be asked. Each returns an element; what happens next is given to it. */

import { button, el } from "./dom.js";
import { counted, share, t } from "./texts.js";

/** A page of its own: a heading that takes the focus, and content. */
export function stage(title, ...content) {
  return el("div", { class: "stage" }, el("h1", { tabindex: "-1", text: title }), content);
}

/** Words of the organiser: *these* are stressed, **these** strongly. All of it stays text. */
function stressed(text) {
  return text
    .split(/(\*\*[^\s*](?:[^*]*[^\s*])?\*\*|\*[^\s*](?:[^*]*[^\s*])?\*)/)
    .filter(Boolean)
    .map((part) => {
      if (/^\*\*[^*]+\*\*$/.test(part)) return el("strong", { text: part.slice(2, -2) });
      return /^\*[^*]+\*$/.test(part) ? el("em", { text: part.slice(1, -1) }) : part;
    });
}

/** Text of the organiser: blank lines part paragraphs, and lines that start with # or - are headings and lists. */
export function paragraphs(text) {
  return text
    .replace(/\r/g, "")
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter(Boolean)
    .map((block) => {
      if (/^#+\s/.test(block)) return el("h2", {}, stressed(block.replace(/^#+\s+/, "")));
      if (block.split("\n").every((line) => /^[-*]\s/.test(line)))
        return el(
          "ul",
          {},
          block.split("\n").map((line) => el("li", {}, stressed(line.slice(2)))),
        );
      return el("p", {}, stressed(block.replace(/\n/g, " ")));
    });
}

/** What to do: in the organiser's words, or in ours. */
function instructions(campaign) {
  return campaign.instructions.length ? campaign.instructions : [t(`intro_${campaign.kind}`), t("intro_honest")];
}

/**
 * An open link: joining makes a link for this person. Whoever has joined before goes on with that one.
 * @param {Object} session
 * @param {{join: () => void, goOn: (() => void)|null}} how  goOn: where somebody joined on this device
 */
export function joinStage(session, { join, goOn }) {
  const { campaign } = session;
  const free = session.state === "open";
  const first = button(t("join"), { kind: "primary large", press: join });
  const again = [
    button(t("join_go_on"), { kind: "primary large", press: goOn }),
    free && button(t("join_other"), { press: join }),
  ];
  return stage(
    campaign.title,
    el(
      "div",
      { class: "card stack" },
      instructions(campaign).map((text) => el("p", { text })),
      el("p", { class: "note", text: t(goOn ? "join_again_note" : "join_note") }),
      el("div", { class: "row" }, goOn ? again : first),
    ),
  );
}

export function consentStage(session, agree) {
  const box = el("input", { type: "checkbox", id: "agree" });
  const problem = el("p", { class: "error", role: "alert" });
  const form = el(
    "form",
    { class: "card stack", novalidate: true },
    el(
      "div",
      { class: "consent-text", tabindex: "0", role: "region", "aria-label": t("consent") },
      paragraphs(session.consent.text),
    ),
    el("label", { class: "check", for: "agree" }, box, el("span", { text: t("consent_agree") })),
    problem,
    el("div", { class: "row" }, el("button", { type: "submit", class: "button primary large", text: t("continue") })),
    el("p", { class: "note", text: t("consent_note") }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.textContent = box.checked ? "" : t("consent_needed");
    if (box.checked) agree();
    else box.focus();
  });
  return stage(t("consent_title"), form);
}

/** @param {{id: string, label: string, kind: string, options: string[], required: boolean}[]} questions */
export function questionnaireStage(questions, send) {
  const fields = questions.map((question, index) => makeField(question, `question-${index}`));
  const problem = el("p", { class: "error", role: "alert" });
  const form = el(
    "form",
    { class: "card", novalidate: true },
    fields.map((field) => field.element),
    problem,
    el("button", { type: "submit", class: "button primary large", text: t("continue") }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = fields.filter((field) => !field.check());
    problem.textContent = wrong.length ? counted("questionnaire_missing", wrong.length) : "";
    if (wrong.length) wrong[0].focus();
    else send(Object.fromEntries(fields.map((field) => [field.id, field.value()])));
  });
  return stage(t("questionnaire_title"), el("p", { class: "lead", text: t("questionnaire_note") }), form);
}

function makeField({ id, label, kind, options, required }, place) {
  const text = required ? label : t("optional", { label });
  let input;
  let element;
  let value;
  if (kind === "choice" && options.length <= 6) {
    const radios = options.map((option, index) =>
      el("input", { type: "radio", name: place, id: `${place}-${index}`, value: option }),
    );
    element = el(
      "fieldset",
      {},
      el("legend", { text }),
      radios.map((radio, index) =>
        el("label", { class: "check", for: radio.id }, radio, el("span", { text: options[index] })),
      ),
    );
    input = radios[0];
    value = () => radios.find((radio) => radio.checked)?.value ?? null;
  } else if (kind === "choice") {
    input = el(
      "select",
      { id: place },
      el("option", { value: "", text: "–" }),
      options.map((option) => el("option", { value: option, text: option })),
    );
    value = () => input.value || null;
  } else if (kind === "yes") {
    input = el("input", { type: "checkbox", id: place });
    element = el("div", { class: "field" }, el("label", { class: "check", for: place }, input, el("span", { text })));
    value = () => input.checked;
  } else if (kind === "number") {
    input = el("input", { type: "number", id: place, step: "any", class: "short", inputmode: "decimal" });
    value = () => (input.value === "" || !Number.isFinite(input.valueAsNumber) ? null : input.valueAsNumber);
  } else {
    input = el("textarea", { id: place, rows: "2", maxlength: "2000" });
    value = () => input.value.trim() || null;
  }
  element ??= el("div", { class: "field" }, el("label", { for: place, text }), input);
  return {
    id,
    element,
    value,
    focus: () => input.focus(),
    check() {
      const given = value();
      const fine = !required || !(given === null || given === false);
      if (fine) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
      return fine;
    },
  };
}

/** What to do, before training and the first question. */
export function introStage(session, go, link = null) {
  const { campaign } = session;
  return stage(
    t("intro_title"),
    el(
      "div",
      { class: "card stack" },
      instructions(campaign).map((text) => el("p", { text })),
      el("p", { class: "note keys-note", text: t("intro_keys") }),
      el("p", { class: "note", text: t("intro_stop") }),
      link && [el("p", { class: "note", text: t("thanks_link") }), linkBox(link)],
      button(t("begin"), { kind: "primary large", press: go }),
    ),
  );
}

/** @param {HTMLElement} saved  the sentence that says where the answers are */
export function pauseStage(answers, saved, go, leave) {
  return stage(
    t("pause_title"),
    el(
      "div",
      { class: "card stack" },
      el("p", { class: "lead", text: counted("pause_answers", answers) }),
      el("p", { text: t("pause_note") }),
      saved,
      el(
        "div",
        { class: "row" },
        button(t("pause_continue"), { kind: "primary large", press: go }),
        button(t("stop_for_now"), { press: leave }),
      ),
    ),
  );
}

/**
 * The end, and a stop on the way.
 * @param {{answers: number, songs: number, kind: string, share: number, until_budget: boolean, completion: Object|null,
 *   text: string|null}} done
 * @param {{reason: string, saved: HTMLElement|null, back: (() => void)|null, undo: (() => void)|null,
 *   undoLabel: string, link: string}} how  saved: the sentence that says where the answers are
 */
export function thanksStage(done, { reason, saved, back, undo, undoLabel, link }) {
  const said = [];
  const over = reason === "closed" || reason === "stopped";
  // Who has answered nothing is not told what the answers did.
  const nothing = over && !done.answers;
  const why = nothing ? `state_${reason}` : reason === "enough" && done.completion ? "thanks_paid" : `thanks_${reason}`;
  if (done.answers > 0) {
    said.push(`${whatWasDone(done)} ${t("thanks_help")}`);
    const all = done.until_budget ? "thanks_share_budget" : "thanks_share";
    if (done.share > 0) said.push(t(all, { share: share(Math.max(0.01, done.share)) }));
  }
  return stage(
    t(done.answers > 0 ? "thanks_title" : nothing ? `state_${reason}_title` : "thanks_none_title"),
    el(
      "div",
      { class: "card stack" },
      el("p", { class: "lead", text: t(why) }),
      saved,
      said.map((text) => el("p", { text })),
      done.text && paragraphs(done.text),
      done.completion && completionPart(done.completion),
      back &&
        el("div", { class: "row" }, button(t("thanks_back"), { kind: done.completion ? "" : "primary", press: back })),
      undo && el("div", { class: "row" }, button(undoLabel, { press: undo })),
      back && el("p", { class: "note", text: t("thanks_link") }),
      back && linkBox(link),
    ),
  );
}

function whatWasDone({ kind, answers, songs }) {
  if (kind === "order") return counted("thanks_orders", songs);
  if (kind === "lists") return counted("thanks_lists", answers);
  return counted("thanks_answers", answers, { songs: counted("songs", songs) });
}

/** What the platform that sent somebody wants to hear. */
function completionPart({ url, code, submit }) {
  const parts = [];
  if (code)
    parts.push(
      el("p", {}, t("completion_code"), " "),
      el("p", {}, el("code", { class: "code", text: code }), " ", copyButton(code)),
    );
  if (url) parts.push(el("p", {}, el("a", { class: "button primary large", href: url, text: t("completion_go") })));
  if (submit) {
    parts.push(
      el(
        "form",
        { method: "post", action: submit.url },
        Object.entries(submit.fields ?? {}).map(([name, value]) => el("input", { type: "hidden", name, value })),
        el("button", { type: "submit", class: "button primary large", text: t("completion_submit") }),
      ),
    );
  }
  return el("div", { class: "completion banner good" }, el("p", { text: t("completion_note") }), parts);
}

export function linkBox(link) {
  const field = el("input", {
    type: "text",
    readonly: true,
    value: link,
    class: "mono link-field",
    "aria-label": t("your_link"),
  });
  field.addEventListener("focus", () => field.select());
  return el("div", { class: "row link-box" }, field, copyButton(link, field));
}

/** Copying works without a secure context too; where it does not, the text is selected. */
function copyButton(text, field = null) {
  const made = button(t("copy"), {
    press: async () => {
      let copied = false;
      try {
        await navigator.clipboard.writeText(text);
        copied = true;
      } catch {
        const place =
          field ?? document.body.appendChild(el("input", { type: "text", value: text, "aria-hidden": "true" }));
        place.select();
        copied = document.execCommand("copy");
        if (!field) place.remove();
      }
      made.lastChild.textContent = t(copied ? "copied" : "copy_by_hand");
    },
  });
  return made;
}

/** One thing to say, perhaps with something to do about it. */
export function messageStage(title, text, ...more) {
  return stage(title, el("div", { class: "card stack" }, el("p", { class: "lead", text }), more));
}
