/* Single answers: what was asked and said, and how to correct or withdraw one. */

import { count, date, doing, get, h, post, say, t, watchScroll } from "./page.js";
import { begin } from "./frame.js";
import { ask } from "./dialog.js";
import { nameOf } from "./assessors.js";
import { fill, titlesOf } from "./table.js";

const $ = (id) => document.getElementById(id);
let told = { kind: "grade", scale: null, state: "open" };
let next = null;
let fresh = false;

watchScroll($("answers-table"));
watchScroll($("reports-table"));

begin((state) => {
  const select = $("filter-assessor");
  const known = new Set([...select.options].map((option) => option.value));
  for (const row of state.assessors)
    if (!known.has(row.assessor)) select.append(h("option", { value: row.assessor }, row.name || row.assessor));
  if (!fresh) {
    fresh = true;
    const wanted = new URLSearchParams(location.search).get("assessor");
    if (wanted) select.value = wanted;
    load();
  }
  showReports();
});

async function load(more = false) {
  const asked = new URLSearchParams({ limit: "50" });
  if ($("filter-assessor").value) asked.set("assessor", $("filter-assessor").value);
  if ($("filter-query").value.trim()) asked.set("query", $("filter-query").value.trim());
  if (more && next) asked.set("before", next);
  try {
    told = await get(`/api/organise/answers?${asked}`);
  } catch (error) {
    $("answers-error").hidden = false;
    say($("answers-error"), error.message);
    return;
  }
  $("answers-error").hidden = true;
  next = told.next;
  const rows = told.answers.map(shownRow);
  if (more) $("answers-rows").append(...rows);
  else $("answers-rows").replaceChildren(...rows);
  $("more").hidden = next === null;
  $("none").hidden = told.total > 0;
  $("answers-table").hidden = told.total === 0;
  $("closed").hidden = told.state !== "closed";
  say($("total"), t("answers_total", { count: count(told.total) }));
}

function shownRow(row) {
  const titles = titlesOf($("answers-rows"));
  let place = 0;
  const cell = (content, attributes = {}) =>
    h("td", { "data-title": titles[place++]?.textContent, ...attributes }, ...[content].flat());
  return h(
    "tr",
    { "data-key": row.sequence },
    cell(date(row.time), { class: "when" }),
    cell(nameOf(row)),
    cell([h("span", { class: "query" }, row.query), h("span", { class: "note below" }, questionOf(row))]),
    cell(answerOf(row), { class: "said" }),
    cell(detailsOf(row), { class: "note" }),
    cell(h("span", { class: `badge ${{ counts: "good", late: "warn", trap: "blue" }[row.status] ?? ""}` }, statusOf(row))),
    cell(row.id && told.state !== "closed" ? buttons(row) : "", { class: "actions" }),
  );
}

const questionOf = (row) => (row.other ? `${row.document} ${t("against")} ${row.other}` : row.document);

/** A grade as the assessor saw it, with the number that it stands for. */
function gradeOf(gain, scale) {
  const label = scale?.labels?.[scale.levels?.indexOf(gain) ?? -1];
  return label ? `${label} (${count(gain)})` : count(gain);
}

/** What the choices that name no side are called: of lists as on the page on which they were made. */
const sameName = () => t(told.kind === "lists" ? "answer_both_good" : "answer_same");

function answerOf(row) {
  if (row.gain !== null) {
    const also = row.details?.also;
    const second = also === undefined || also === null ? null : t("answer_also", { answer: gradeOf(also, told.also) });
    return [gradeOf(row.gain, told.scale), second && h("span", { class: "note below" }, second)].filter(Boolean);
  }
  if (told.kind === "order") {
    const { order, cut } = JSON.parse(row.choice);
    return [h("details", {}, h("summary", {}, t("answer_cut", { count: count(cut) })), h("ol", { class: "groups" }, ...order.map((one) => h("li", {}, one))))];
  }
  const words = { a: t("answer_prefers", { document: row.document }), b: t("answer_prefers", { document: row.other }), same: sameName(), neither: t("answer_both_bad") };
  const strength = row.strength === null ? "" : ` · ${t("answer_strength", { strength: row.strength })}`;
  return `${words[row.choice] ?? row.choice}${strength}`;
}

function detailsOf(row) {
  const details = row.details ?? {};
  const heard = (details.heard ?? []).reduce((sum, one) => sum + (Number(one.seconds) || 0), 0);
  const lines = [
    details.seconds !== undefined && t("took", { seconds: Math.round(details.seconds) }),
    heard > 0 && t("heard", { seconds: Math.round(heard) }),
    details.known?.length && t("knew"),
    row.source === "organiser" ? t("answer_organiser") : row.source && t("answer_from", { source: row.source }),
    row.text,
  ].filter(Boolean);
  return [lines.join(" · "), row.comment ? h("q", { class: "below" }, row.comment) : ""];
}

function statusOf(row) {
  return row.status === "trap" ? t("answer_trap", { expected: expectedOf(row) }) : t(`answer_${row.status}`);
}

/** The known answer of a trap, in the words of answers. */
function expectedOf(row) {
  if (told.kind === "grade") return gradeOf(Number(row.expected), told.scale);
  return { a: row.document, b: row.other, same: sameName(), neither: t("answer_both_bad") }[row.expected] ?? row.expected;
}

/* ---- correcting ---- */

function buttons(row) {
  const name = h("span", { class: "visually-hidden" }, `: ${row.query}, ${questionOf(row)}`);
  return h(
    "div",
    { class: "row" },
    row.status === "trap" ? null : h("button", { type: "button", class: "button quiet small", onclick: () => correct(row) }, t("correct"), name),
    h("button", { type: "button", class: "button quiet warning small", onclick: () => withdraw(row) }, t("withdraw"), name.cloneNode(true)),
  );
}

/** Make the fields in which another answer is given, and a function that reads them. */
function fieldsFor(row) {
  const field = (label, input) => h("div", { class: "field" }, h("label", { for: input.id }, label), input);
  const options = (pairs, chosen) => {
    const select = h("select", { id: "new-answer" }, ...pairs.map(([value, words]) => h("option", { value }, words)));
    select.value = chosen;
    return select;
  };
  if (told.kind === "grade") {
    const { levels, high } = told.scale;
    if (levels) {
      const input = options(levels.map((gain) => [gain, gradeOf(gain, told.scale)]), String(row.gain));
      return [[field(t("correct_value"), input)], () => ({ gain: Number(input.value) })];
    }
    const input = h("input", { id: "new-answer", type: "number", min: 0, max: high, step: told.scale.step ?? "any", value: row.gain });
    return [[field(t("correct_value"), input)], () => ({ gain: Number(input.value) })];
  }
  if (told.kind === "order") {
    const { order, cut } = JSON.parse(row.choice);
    const list = h("textarea", { id: "new-answer", rows: 8 });
    list.value = order.join("\n");
    const number = h("input", { id: "new-cut", class: "short", type: "number", min: 0, max: order.length, value: cut });
    const read = () => ({ choice: JSON.stringify({ order: list.value.split("\n").map((one) => one.trim()).filter(Boolean), cut: Number(number.value) }) });
    return [[field(t("correct_order"), list), field(t("correct_cut"), number)], read];
  }
  const choices = [["a", t("choice_a", { document: row.document })], ["b", t("choice_b", { document: row.other })]];
  if (told.allow_same) choices.push(["same", sameName()]);
  if (told.kind === "lists") choices.push(["neither", t("answer_both_bad")]);
  const input = options(choices, row.choice);
  return [[field(t("correct_value"), input)], () => ({ choice: input.value, strength: ["a", "b"].includes(input.value) ? row.strength : null })];
}

/** Whose answer it is, to what, and what was answered: nobody should correct the row beside it. */
const aboutOf = (row) => [
  [t("col_assessor"), nameOf(row)],
  [t("col_query"), row.query],
  [t(told.kind === "lists" ? "about_lists" : row.other ? "about_documents" : "about_document"), questionOf(row)],
  [t("about_answer"), h("span", {}, ...[answerOf(row)].flat())],
];

async function correct(row) {
  const [fields, read] = fieldsFor(row);
  const asked = { title: t("correct_title"), text: t("correct_text"), about: aboutOf(row), button: t("correct"), reason: "needed", fields };
  const done = await ask(asked, (reason) =>
    post(`/api/organise/answers/${encodeURIComponent(row.id)}/correct`, { assessor: row.assessor, reason, ...read() }),
  );
  if (done !== undefined) await load();
}

async function withdraw(row) {
  const asked = { title: t("withdraw_title"), text: t("withdraw_text"), about: aboutOf(row), button: t("withdraw"), reason: "needed", danger: true };
  const done = await ask(asked, (reason) =>
    post(`/api/organise/answers/${encodeURIComponent(row.id)}/withdraw`, { assessor: row.assessor, reason }),
  );
  if (done !== undefined) await load();
}

/* ---- what people reported ---- */

async function showReports() {
  let found;
  try {
    found = await get("/api/organise/reports");
  } catch {
    return; // The bar says that the connection is lost.
  }
  $("reports-none").hidden = found.reports.length > 0;
  $("reports-table").hidden = found.reports.length === 0;
  fill($("reports-rows"), found.reports.map((one, index) => ({ ...one, index: found.reports.length - index })), (row) => `${row.time} ${row.index}`, [
    { class: "when", of: (row) => row.time, show: (row) => [date(row.time)] },
    { of: (row) => nameOf(row) },
    {
      of: (row) => row.kind,
      show: (row) => [h("span", { class: `badge ${row.kind === "unplayable" ? "warn" : ""}` }, t(`report_${row.kind}`))],
    },
    { of: (row) => row.query },
    { of: (row) => [row.document, row.is_query], show: (row) => [row.is_query ? t("report_query") : (row.document ?? "–")] },
    { class: "said", of: (row) => row.text, show: (row) => [row.text || "–"] },
  ]);
}

$("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  load();
});
$("more").addEventListener("click", () => doing($("more"), $("answers-error"), () => load(true)));
