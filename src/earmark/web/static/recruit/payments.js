/* Paid work on the organiser's page: what a number of answers costs, and what is owed. */

import { count, doing, download, fixed, get, h, say, watchScroll } from "../organise/page.js";
import { fill } from "../organise/table.js";

const words = JSON.parse(document.getElementById("recruit-words").textContent);
const EVERY = 20_000;
const FILES = { review: "review.csv", bonuses: "bonuses.csv", all: "payments.csv", workers: "workers.csv" };

const t = (key, values = {}) => (words[key] ?? key).replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
const find = (id) => document.getElementById(id);

// The budget.

const answers = find("budget-answers");
let asked = 0;

answers.addEventListener("input", async () => {
  const number = Number(answers.value);
  if (answers.value.trim() === "" || !Number.isInteger(number) || number < 0) return;
  const turn = ++asked;
  try {
    const budget = await get(`/api/organise/budget?answers=${number}`);
    if (turn !== asked) return;
    find("budget-error").hidden = true;
    say(find("budget-assignments"), count(budget.assignments));
    say(find("budget-cost"), `${fixed(budget.cost, 2)} ${budget.currency}`);
    say(find("budget-hours"), fixed(budget.hours, 1));
  } catch (error) {
    find("budget-error").hidden = false;
    say(find("budget-error"), error.message);
  }
});

// What is owed.

const DECISIONS = { approve: "good", reject: "bad", unfinished: "" };
const amount = (value) => (value ? fixed(value, 2) : "–");
const WORKER_COLUMNS = [
  { head: true, of: (row) => row.worker },
  { class: "mono", of: (row) => row.assessor },
  ...["assignments", "approve", "reject", "unfinished", "answers"].map((name) => ({ class: "number", of: (row) => count(row[name]) })),
  { class: "number", of: (row) => fixed(row.minutes, 1) },
  { class: "number", of: (row) => fixed(row.owed, 2) },
  { class: "number", of: (row) => fixed(row.hourly, 2) },
  { class: "number", of: (row) => amount(row.bonus) },
];
const COLUMNS = [
  { head: true, of: (row) => row.worker },
  { class: "mono", of: (row) => row.assignment },
  { class: "mono", of: (row) => row.assessor },
  { class: "number", of: (row) => count(row.answers) },
  { class: "number", of: (row) => (row.traps ? t("traps_of", { right: row.traps_right, traps: row.traps }) : "–") },
  { class: "number", of: (row) => fixed(row.minutes, 1) },
  {
    of: (row) => [row.decision, row.reason, row.settled],
    show: (row) => [
      h("span", { class: `badge ${DECISIONS[row.decision]}` }, t(`pay_${row.decision}`)),
      row.reason ? ` ${row.reason}` : false,
      row.settled === row.decision ? h("span", { class: "note" }, ` ${t("pay_in_file")}`) : false,
    ],
  },
  { class: "number", of: (row) => fixed(row.owed, 2) },
  { class: "number", of: (row) => fixed(row.hourly, 2) },
  { class: "number", of: (row) => amount(row.bonus) },
];

function show({ summary, payments, workers }) {
  find("pay-none").hidden = payments.length > 0;
  find("pay").hidden = payments.length === 0;
  const parts = ["approve", "reject", "unfinished"].map((name) => `${t(`pay_${name}`)}: ${count(summary[name])}`);
  parts.push(`${t("pay_owed")}: ${fixed(summary.owed, 2)} ${summary.currency}`);
  if (summary.hourly !== null) parts.push(`${t("col_hourly")}: ${fixed(summary.hourly, 2)} ${summary.currency}`);
  if (summary.bonus) parts.push(`${t("pay_bonus")}: ${fixed(summary.bonus, 2)} ${summary.currency}`);
  parts.push(`${t("pay_new")}: ${count(summary.new)}`);
  say(find("pay-summary"), parts.join(" · "));
  fill(find("pay-workers"), workers, (row) => row.assessor, WORKER_COLUMNS);
  fill(find("pay-rows"), payments, (row) => `${row.assignment} ${row.assessor}`, COLUMNS);
}

async function refresh() {
  try {
    show(await get("/api/organise/payments"));
    find("pay-error").hidden = true;
  } catch (error) {
    find("pay-error").hidden = false;
    say(find("pay-error"), error.message);
  }
}

for (const button of document.querySelectorAll("[data-file]")) {
  const what = button.dataset.file;
  button.addEventListener("click", () => doing(button, find("pay-error"), () => download(`/organise/payments.csv?what=${what}`, FILES[what])));
}
for (const button of document.querySelectorAll("[data-upload]")) {
  const what = button.dataset.upload;
  button.addEventListener("click", async () => {
    const body = { what, every: find("pay-every").checked };
    await doing(button, find("pay-error"), () => download("/api/organise/payments/file", FILES[what], body));
    await refresh();
  });
}
for (const table of ["pay-workers-table", "pay-table"]) watchScroll(find(table));
refresh();
setInterval(() => document.visibilityState === "visible" && refresh(), EVERY);
