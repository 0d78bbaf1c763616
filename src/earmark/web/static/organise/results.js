/* The dashboard: the verdict as it forms. */

import { count, counted, doing, fixed, h, percent, post, say, t, watchScroll } from "./page.js";
import { begin } from "./frame.js";
import { fill } from "./table.js";
import { showPictures } from "./pictures.js";
import * as people from "./assessors.js";

const $ = (id) => document.getElementById(id);
const interval = (row, low = "low", high = "high") => (row[low] === null ? "–" : `${fixed(row[low])} – ${fixed(row[high])}`);

document.querySelectorAll(".table, .drawn").forEach(watchScroll);

function show(state) {
  showBanner(state);
  showVerdict(state);
  showFacts(state);
  showProgress(state);
  showAhead(state);
  showRanking(state);
  showPairs(state);
  showPrecision(state);
  showGuarantee(state);
  showOrders(state);
  showAssessors(state);
  showPictures(state);
  const notes = state.notes ?? [];
  $("notes").hidden = !notes.length;
  $("notes").replaceChildren(...notes.map((note) => h("li", { lang: english(state, note) }, note)));
}

/** The language of a sentence that has no translation, for whoever has the page read out; else that of the page. */
const english = (state, text) => (state.untranslated.includes(text) ? "en" : null);

/** Put a sentence of an estimate into an element, marked where it is not in the language of the page. */
function tell(element, state, text, shown = text) {
  if (english(state, text)) element.lang = "en";
  else element.removeAttribute("lang");
  say(element, shown);
}

function showBanner(state) {
  const { state: now, reason, reached } = state.campaign;
  const banner = $("banner");
  // Reaching the rule asks the organiser; people are sent away where that was said beforehand.
  const asks = now === "open" && reached;
  banner.hidden = !["stopped", "closed"].includes(now) && !asks;
  const key = `${now} ${reached} ${reason}`;
  if (banner.hidden || banner.dataset.shown === key) return;
  banner.dataset.shown = key;
  const words = asks ? "reached" : reached ? "stopped" : "no_longer";
  const said = now === "closed" ? t("closed_banner") : reason ? t(`${words}_banner`, { reason }) : t(asks ? "reached_hidden" : "stopped_hidden");
  const link = (address, words) => h("a", { class: "button small", href: address }, words);
  const ways =
    now === "closed"
      ? [link("/organise/files", t("get_report"))]
      : [link("/organise/files", t("go_close")), link("/organise/settings", t("go_settings"))];
  banner.replaceChildren(h("p", {}, said), now === "stopped" ? h("p", {}, t("stopped_next")) : "", h("p", { class: "row" }, ...ways));
}

/* ---- the verdict ---- */

function showVerdict(state) {
  const verdict = state.verdict;
  const kicker = [t(state.campaign.state === "closed" ? "verdict_final" : "verdict"), state.campaign.measure];
  say($("verdict-kicker"), kicker.filter(Boolean).join(" · "));
  const headline = $("headline");
  const nothing = state.unjudged ? "verdict_unjudged" : "verdict_none";
  const none = verdict?.early ? t("early_title") : t(state.estimated ? nothing : "verdict_starting");
  const words = state.hidden ? t("hidden_title") : (verdict?.headline ?? none);
  if (!state.hidden && english(state, verdict?.headline)) headline.lang = "en";
  else headline.removeAttribute("lang");
  const names = (state.ranking?.rows ?? []).map((row) => row.system);
  write(headline, names.some((name) => words.startsWith(name)) ? words : capital(words), names);
  const put = (id, text) => {
    $(id).hidden = !text;
    tell($(id), state, text ?? "");
  };
  const premises = (!state.hidden && !verdict?.early && verdict?.premises) || [];
  $("premises").hidden = !premises.length;
  $("premises").replaceChildren(...premises.map((note) => h("li", { lang: english(state, note) }, `${capital(note)}.`)));
  if (state.hidden || verdict?.early) put("summary", state.hidden ? t("hidden_text") : early(state, verdict));
  else put("summary", verdict?.summary);
  put("safe", verdict ? safety(state, verdict) : "");
  put("basis", verdict?.basis && !verdict.early ? basis(verdict) : "");
  put("included", state.included && !state.unjudged ? included(state.included) : "");
  const neighbours = verdict?.neighbours ?? [];
  $("neighbours").hidden = neighbours.length < 2;
  fillList($("neighbours-rows"), neighbours, state);
}

/** What the estimate contains, by the numbers of events: the page must not look newer than it is. */
const included = ({ answers, behind }) => (behind ? counted("included_behind", behind) : counted("included_all", answers));

/** When intervals come; in a small study, not before everything is judged. */
function early({ counts }, { anytime_from: first }) {
  return t(first >= counts.items ? "early_text_all" : "early_text", { count: count(first) });
}

/** What the verdict rests on, and for how many looks it is valid. */
function basis({ basis: { by, about, other }, anytime }) {
  const rests = other ? t("basis_other", { basis: other }) : t("basis", { by: t(`basis_by_${by}`), about: t(`basis_about_${about}`) });
  return `${rests} ${validity(anytime)}`;
}

/** For how many looks a number is valid: said wherever a confidence is shown, as both kinds stand on one page. */
const validity = (anytime) => t(anytime ? "valid_anytime" : "valid_once");

function safety(state, verdict) {
  if (state.campaign.state === "closed") return "";
  if (verdict.early) return t("early_how");
  if (verdict.anytime) return t("safe_anytime");
  return verdict.anytime_from ? t("safe_from", { count: count(verdict.anytime_from) }) : t("safe_once");
}

/** Write a sentence in which short names are not broken between two lines. */
function write(element, text, names) {
  if (element.textContent === text) return;
  const short = names.filter((name) => name.length <= 24 && /\w[- ]\w/.test(name)).sort((a, b) => b.length - a.length);
  if (!short.length) return say(element, text);
  const either = new RegExp(`(${short.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "g");
  element.replaceChildren(...text.split(either).map((part) => (short.includes(part) ? h("span", { class: "unbroken" }, part) : part)));
}

const capital = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

function fillList(list, said, state) {
  const shown = JSON.stringify(said);
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  list.replaceChildren(...said.map((one) => h("li", { class: one.kind, lang: english(state, one.text) }, one.text)));
}

/* ---- numbers ---- */

function showFacts(state) {
  const { counts, pace, campaign } = state;
  const facts = [
    [judgedName(campaign), count(counts.judged), judgedNote(counts, campaign)],
    [t("fact_remaining"), count(counts.remaining), remaining(counts, campaign)],
    [t("fact_answers"), count(counts.answers), ""],
    [t("fact_per_hour"), perHour(pace), pace.per_hour === null ? "" : t(pace.last_hour ? "fact_per_hour_pace" : "fact_per_hour_idle")],
    [t("fact_end"), ...end(pace)],
    [t("fact_at_work"), count(counts.at_work), t("fact_at_work_note")],
    [
      t("fact_median"),
      pace.median_seconds === null ? "–" : t("seconds", { seconds: count(Math.round(pace.median_seconds)) }),
      t("fact_median_note"),
    ],
  ];
  const list = $("facts");
  if (list.children.length !== facts.length)
    list.replaceChildren(...facts.map(() => h("div", {}, h("dt", {}), h("dd", {}, h("span", {}), h("small", {})))));
  facts.forEach(([name, value, note], index) => {
    const [term, told] = list.children[index].children;
    say(term, name);
    say(told.children[0], value);
    say(told.children[1], note);
  });
}

/** What a judged question is called; of kinds in which several people answer each, all of them have. */
const judgedName = ({ kind }) => t(kind === "grade" ? "fact_judged" : `fact_questions_${kind}`);

function judgedNote(counts, { kind, per_item }) {
  // A grade by one person is a judgment, though others are asked too.
  const each = kind === "grade" ? "fact_judged_least" : "fact_judged_each";
  return t(per_item > 1 ? each : "fact_judged_of", { count: count(counts.items), each: count(per_item) });
}

/** What is left is counted in answers, as is the pace at which it is done. */
function remaining(counts, { kind }) {
  if (counts.budget === null) return counted("fact_remaining_answers", counts.remaining);
  const unit = counts.budget_of_answers ? "answers" : kind === "prefer" ? "pairs" : "judgments";
  return counted("fact_remaining_budget", counts.remaining, { budget: t(`unit_${unit}`, { count: count(counts.budget) }) });
}

const perHour = (pace) => (pace.per_hour === null ? "–" : count(pace.per_hour < 10 ? Math.round(pace.per_hour * 10) / 10 : Math.round(pace.per_hour)));

/** Say when it may end, and what that rests on; never more precisely than it is known. */
function end(pace) {
  const { how, more, likely, all } = pace.end;
  if (how === "over") return [t("fact_end_over"), ""];
  if (how === "complete") return ["–", t("fact_end_complete")];
  if (likely) return [duration(likely.hours), counted(how === "exact" ? "fact_end_exact" : "fact_end_more", more)];
  if (all) return [duration(all.hours), counted("fact_end_at_most", all.judgments)];
  return [t("fact_end_unknown"), pace.per_hour === 0 ? t("fact_end_no_pace") : ""];
}

function duration(hours) {
  if (hours <= 0.25) return t("fact_end_soon", { minutes: count(15) });
  if (hours < 1) return t("fact_end_minutes", { minutes: count(Math.round(hours * 60)) });
  if (hours < 48) return t("fact_end_hours", { hours: count(hours) });
  return t("fact_end_days", { days: count(Math.round(hours / 24)) });
}

/* ---- towards the end ---- */

const number = (value, name) => (["mean", "min", "top", "decided"].includes(name) ? percent(value) : name === "width" ? fixed(value) : count(value));

function showProgress(state) {
  const progress = state.progress;
  $("progress-card").hidden = !progress || (progress.value === null && !progress.reason);
  if (!progress) return;
  const { name, value, target } = progress;
  const known = value !== null && value !== undefined && target !== null && target !== undefined;
  const counting = name === "budget" || name === "none";
  // Confidences and widths hold for one look or for all; what is merely counted holds as it is.
  const measured = !counting;
  const words = name === "none" ? judgedName(state.campaign) : t(state.counts.budget_of_answers ? "what_budget_answers" : `what_${name}`);
  say($("progress-now"), known ? `${capital(words)}: ${t(name === "none" ? "of" : "progress_now", { value: number(value, name), target: number(target, name), part: number(value, name), whole: number(target, name) })}` : "");
  $("progress-valid").hidden = !measured;
  say($("progress-valid"), validity(progress.anytime));
  const bar = $("progress-bar");
  bar.hidden = !known || !counting;
  if (known && counting) {
    bar.max = Math.max(target, 1);
    bar.value = value;
  }
  const every = t(progress.anytime ? "progress_points_anytime" : "progress_points_once");
  say($("confidence-caption"), t(counting ? "progress_caption_plain" : "progress_caption", { rule: progress.rule, every }));
  const reason = $("progress-reason");
  reason.hidden = !progress.reason;
  say(reason, t("progress_reason", { reason: progress.reason }));
}

/* ---- looking ahead, which takes the server seconds: when it is asked for ---- */

function showAhead(state) {
  const open = (state.ranking?.rows ?? []).some((row) => row.open > 0);
  $("ahead-card").hidden = state.campaign.kind !== "grade" || state.campaign.state === "closed" || !open;
  const told = state.ahead;
  $("ahead-said").hidden = !told;
  if (!told) return;
  tell($("ahead-said"), state, told.said);
  say($("ahead-note"), t("ahead_when", { count: count(told.judged) }));
  say($("forecast-caption"), t("ahead_caption"));
}

$("ahead").addEventListener("click", () =>
  doing($("ahead"), $("ahead-error"), async () => {
    await post("/api/organise/forecast");
    await page.refresh();
  }),
);

/* ---- ranking and pairs ---- */

function showRanking(state) {
  const ranking = state.ranking;
  $("ranking-card").hidden = !ranking;
  if (!ranking) return;
  const lists = state.campaign.kind === "lists";
  // Without intervals there is no picture, and the table is all there is to see.
  if (ranking.level === null) $("ranking-numbers").open = true;
  const valid = validity(state.verdict?.anytime);
  say($("ranking-caption"), `${t(lists ? "ranking_caption_lists" : "ranking_caption", { level: percent(ranking.level) })} ${valid}`);
  // Columns in which nothing stands take the room of those that say something.
  const bare = ranking.rows.every((row) => row.low === null);
  fill($("ranking-rows"), ranking.rows, (row) => row.system, [
    { class: "n", of: (row) => row.rank },
    {
      head: true,
      of: (row) => [row.system, row.may_be_best],
      show: (row) => [row.system, row.may_be_best ? h("span", { class: "note below" }, t("may_be_best")) : null],
    },
    { class: "n", of: (row) => fixed(row.estimate) },
    { class: "n", empty: bare, of: (row) => interval(row) },
    { class: "n", empty: bare, of: (row) => row.better ?? "–" },
    { class: "n", empty: bare, of: (row) => row.open ?? "–" },
    { class: "n", empty: bare, of: (row) => row.worse ?? "–" },
  ]);
}

function showPairs(state) {
  const there = Boolean(state.pairs) || (state.figures ?? []).includes("pairs");
  $("pairs-card").hidden = !there;
  $("pairs-numbers").hidden = !state.pairs;
  const told = t(state.campaign.kind === "lists" ? "pairs_caption_lists" : "pairs_caption");
  say($("pairs-caption"), `${told} ${validity(state.verdict?.anytime)}`);
  if (!state.pairs) return;
  fill($("pairs-rows"), state.pairs, (row) => `${row.row}\0${row.column}`, [
    { head: true, of: (row) => row.row },
    { of: (row) => row.column },
    { class: "n", of: (row) => percent(row.probability) },
    {
      of: (row) => [row.probability === null, row.decided],
      show: (row) => [t(row.probability === null ? "pairs_same" : row.decided ? "pairs_decided" : "pairs_open")],
    },
  ]);
}

function showPrecision(state) {
  $("precision-card").hidden = !state.precision;
  if (!state.precision) return;
  fill($("precision-rows"), state.precision, (row) => row.system, [
    { head: true, of: (row) => row.system },
    { class: "n", of: (row) => fixed(row.precision) },
    { class: "n", of: (row) => (row.low === null ? "–" : interval(row)) },
    { class: "n", of: (row) => t("of", { part: count(row.correct), whole: count(row.pairs) }) },
  ]);
}

function showGuarantee(state) {
  const told = state.guarantee;
  $("guarantee-card").hidden = !told;
  if (!told) return;
  tell($("guarantee-said"), state, told.said ?? "", told.said ? `${capital(told.said)}.` : "");
  say($("guarantee-caption"), t("guarantee_caption"));
  fill($("guarantee-rows"), told.rows, (row) => row.system, [
    { head: true, of: (row) => row.system },
    { class: "n", of: (row) => fixed(row.model) },
    { class: "n", of: (row) => interval(row, "model_low", "model_high") },
    { class: "n", of: (row) => fixed(row.design) },
    { class: "n", of: (row) => interval(row, "design_low", "design_high") },
  ]);
}

function showOrders(state) {
  const told = state.orders;
  $("orders-card").hidden = !told;
  if (!told) return;
  say($("orders-caption"), t("orders_caption"));
  const tau = told.agreement?.tau;
  const words = tau && tau.mean !== null ? t("orders_agreement", { tau: fixed(tau.mean, 2), low: fixed(tau.low, 2), high: fixed(tau.high, 2), count: count(told.agreement.queries) }) : "";
  say($("orders-agreement"), `${words} ${told.all > told.groups.length ? t("orders_some", { count: count(told.groups.length), all: count(told.all) }) : ""}`.trim());
  fill($("orders-rows"), told.groups, (row) => row.query, [
    { head: true, of: (row) => row.query },
    { class: "n", of: (row) => row.rankings },
    { class: "n", of: (row) => fixed(row.tau, 2) },
    {
      of: (row) => row.order,
      show: (row) => [h("ol", { class: "groups" }, ...(row.order ?? []).map((group) => h("li", {}, group.join(", "))))],
    },
  ]);
}

/* ---- people ---- */

function showAssessors(state) {
  const rows = state.assessors;
  $("assessors-none").hidden = rows.length > 0;
  $("assessors-table").hidden = rows.length === 0;
  $("assessors-figure").hidden = !(state.figures ?? []).includes("assessors");
  say($("assessors-caption"), t("assessors_figure_caption"));
  fill($("assessors-rows"), rows, (row) => row.assessor, [
    people.person,
    people.answers,
    people.seconds,
    people.agreement,
    people.traps,
    people.last,
    people.standing,
  ]);
}

const page = begin(show);
