/* Lists: which of two result lists is better. */

import { makeChoices } from "./choices.js";
import { el } from "./dom.js";
import { t } from "./texts.js";

const SIDES = ["first", "second"];

export function listsForm(question, campaign, { changed, exhibition }) {
  const options = [
    { value: "first", text: t("better_left"), key: "1" },
    { value: "same", text: t("both_good"), key: "2" },
    { value: "neither", text: t("both_bad"), key: "3" },
    { value: "second", text: t("better_right"), key: "4" },
  ];
  const label = campaign.question ?? t("ask_lists");
  const choice = makeChoices(label, options, { changed, hiddenLabel: true, kind: "lists" });
  const rows = question.lists.map((list, side) => list.map((shown, rank) => makeRow(shown, side, rank)));

  function makeRow(shown, side, rank) {
    const name = t("listed", { list: t(side === 0 ? "left_list" : "right_list"), n: rank + 1 });
    return el(
      "li",
      { class: "listed", tabindex: "-1" },
      el("span", { class: "rank numbers", "aria-hidden": "true", text: rank + 1 }),
      exhibition.make(`${SIDES[side]} ${rank}`, name, shown, { compact: true, level: 3 }),
    );
  }

  function makeList(side) {
    const id = `list-${side}`;
    return el(
      "section",
      { class: "result-list", "aria-labelledby": id },
      el("h2", { id, text: t(side === 0 ? "left_list" : "right_list") }),
      el("ol", {}, rows[side]),
    );
  }

  /** Go from row to row, and from list to list; what plays goes along. */
  function walk(key) {
    const at = /^(first|second) (\d+)$/.exec(exhibition.player.active ?? "");
    const side = at ? SIDES.indexOf(at[1]) : 0;
    const rank = at ? Number(at[2]) : -1;
    const [toSide, toRank] = {
      ArrowUp: [side, rank - 1],
      ArrowDown: [side, rank + 1],
      ArrowLeft: [0, Math.max(rank, 0)],
      ArrowRight: [1, Math.max(rank, 0)],
    }[key];
    const row = rows[toSide][toRank];
    if (!row) return;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
    exhibition.player.choose(`${SIDES[toSide]} ${toRank}`);
  }

  return {
    showing: el("div", { class: "pair" }, makeList(0), makeList(1)),
    element: el("div", { class: "prefers" }, choice.element),
    value: () => (choice.value === null ? null : { choice: choice.value }),
    missing: () => t("missing_lists"),
    draft: () => ({ choice: choice.value }),
    restore: (draft) => {
      if (draft.choice) choice.value = draft.choice;
    },
    doubt: () => null,
    key(event) {
      if (event.key.startsWith("Arrow")) walk(event.key);
      else if (/^[1-4]$/.test(event.key)) choice.choose(options[Number(event.key) - 1].value);
      else return false;
      return true;
    },
    keys: () => [
      [["←", "→", "↑", "↓"], t("keys_walk")],
      [["1", "4"], t("keys_lists")],
    ],
    fits: (answer, expected) => answer.choice === expected.choice,
    describe: (answer) => options.find((option) => option.value === answer.choice)?.text ?? "",
  };
}
