/* How people work, as cells of a table; the same on the page of results and on the page of people. */

import { count, date, h, percent, t } from "./page.js";

export const nameOf = (row) => row.name || row.assessor;

export const person = {
  head: true,
  class: "person",
  of: (row) => [row.name, row.assessor, row.platform, row.erased],
  show: (row) => [
    h("span", { class: "who" }, nameOf(row)),
    h(
      "span",
      { class: "note" },
      [
        row.name && row.assessor,
        row.erased && t("person_erased"),
        row.platform && t("person_via", { platform: row.platform }),
      ]
        .filter(Boolean)
        .join(" · "),
    ),
  ],
};

const BADGES = { active: "good", paused: "warn", rejected: "bad", pilot: "blue" };

export const standing = {
  of: (row) => [row.state, row.out > 0, row.link],
  show: (row) => [
    h("span", { class: `badge ${BADGES[row.state] ?? ""}` }, t(`person_${row.state}`)),
    row.out > 0 && h("span", { class: "note below" }, t("person_out")),
    // Whoever came from a file never had a link.
    !row.link && row.joined && h("span", { class: "note below" }, t("person_no_link")),
  ],
};

export const answers = { class: "n", of: (row) => row.answers, show: (row) => [count(row.answers)] };

export const seconds = {
  class: "n",
  of: (row) => row.seconds && Math.round(row.seconds),
  show: (row) => [row.seconds === null ? "–" : t("seconds", { seconds: count(Math.round(row.seconds)) })],
};

export const agreement = {
  class: "n",
  of: (row) => [row.agreement, row.shared],
  show: (row) => [
    percent(row.agreement),
    row.shared ? h("span", { class: "note below" }, t("on_shared", { count: count(row.shared) })) : null,
  ],
};

export const traps = {
  class: "n",
  of: (row) => [row.traps_right, row.traps],
  show: (row) => [row.traps ? t("of", { part: count(row.traps_right), whole: count(row.traps) }) : "–"],
};

export const last = { class: "when", of: (row) => row.last, show: (row) => [date(row.last)] };
