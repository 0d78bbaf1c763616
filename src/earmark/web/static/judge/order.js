/* Order: all candidates of a query, most similar first, and a line below which they are not similar any more.
   By dragging, by keys, and by buttons. */

import { button, el, icon } from "./dom.js";
import { counted, enumerate, t } from "./texts.js";

/** Pixels from the edge of the window at which dragging scrolls. */
const EDGE = 70;
/** The line, among the indexes of candidates. */
const LINE = -1;

export function orderForm(question, campaign, { changed, exhibition, say }) {
  const size = question.candidates.length;
  /** Candidates, best first, and the line: a candidate that is moved across the line takes no other one along. */
  let sequence = [...question.candidates.keys(), LINE];
  /** Whether somebody said where the line is. Until then it stays below all candidates. */
  let drawn = false;
  /** @type {HTMLElement|null} */
  let dragged = null;

  const order = () => sequence.filter((one) => one !== LINE);
  /** How many are similar; null until it was said. */
  const cut = () => (drawn ? sequence.indexOf(LINE) : null);
  const name = (index) => t("candidate_n", { name: letters(index) });
  const rows = question.candidates.map((shown, index) => makeRow(shown, index));
  const line = makeLine();
  const list = el("ol", { class: "ordering", "aria-label": t("order_label") });
  arrange();

  function makeRow(shown, index) {
    const rank = el("span", { class: "rank numbers", "aria-hidden": "true" });
    const up = button("", {
      kind: "quiet move",
      shape: "up",
      press: () => move(index, -1, up),
      "aria-label": t("move_up", { name: name(index) }),
    });
    const down = button("", {
      kind: "quiet move",
      shape: "down",
      press: () => move(index, 1, down),
      "aria-label": t("move_down", { name: name(index) }),
    });
    const grip = el("span", { class: "grip", "aria-hidden": "true", title: t("drag") }, icon("grip"));
    const exhibit = exhibition.make(`candidate ${index}`, name(index), shown, { compact: true });
    // A row takes the focus while one walks with the arrows, so that space and Enter mean what they mean everywhere.
    const element = el(
      "li",
      { class: "ordered", tabindex: "-1", data: { index } },
      grip,
      rank,
      exhibit,
      el("span", { class: "moves" }, up, down),
    );
    draggable(element, grip, (place) => put(index, place));
    return { element, rank, up, down };
  }

  function makeLine() {
    const up = button("", {
      kind: "quiet move",
      shape: "up",
      press: () => move(LINE, -1, up),
      "aria-label": t("cut_up"),
    });
    const down = button("", {
      kind: "quiet move",
      shape: "down",
      press: () => move(LINE, 1, down),
      "aria-label": t("cut_down"),
    });
    const drawLast = () => {
      drawLine(size);
      // The button is gone now; the focus stays at the line.
      up.focus();
    };
    const all = button(t("all_similar"), { kind: "small", press: drawLast });
    const text = el("span", { class: "cut-text" });
    const grip = el("span", { class: "grip", "aria-hidden": "true", title: t("drag") }, icon("grip"));
    const element = el("li", { class: "cut" }, grip, text, all, el("span", { class: "moves" }, up, down));
    draggable(element, grip, (place) => put(LINE, place));
    return { element, up, down, all, text };
  }

  /** Show the order as it is. Elements that are in place are left alone, so that focus stays. */
  function arrange() {
    const wanted = sequence.map((one) => (one === LINE ? line : rows[one]).element);
    if (dragged) {
      // What is dragged stays in the document, or it would lose the pointer: the others move around it.
      const at = wanted.indexOf(dragged);
      for (const element of wanted.slice(0, at)) if (follows(dragged, element)) dragged.before(element);
      for (const element of wanted.slice(at + 1).reverse()) if (follows(element, dragged)) dragged.after(element);
    }
    wanted.forEach((element, place) => {
      if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
    });
    order().forEach((index, rank) => {
      const row = rows[index];
      const place = sequence.indexOf(index);
      row.rank.textContent = String(rank + 1);
      row.element.classList.toggle("below", place > rank);
      row.up.setAttribute("aria-disabled", String(place === 0));
      row.down.setAttribute("aria-disabled", String(place === last(index)));
    });
    const above = cut();
    line.element.classList.toggle("unset", !drawn);
    line.all.hidden = drawn;
    line.text.textContent = t(above === null ? "cut_unset" : above === size ? "cut_none" : "cut");
    line.up.setAttribute("aria-disabled", String(above === 0));
    line.down.setAttribute("aria-disabled", String(above === size));
  }

  /** The last place that a candidate or the line can take. */
  function last(one) {
    return drawn || one === LINE ? size : size - 1;
  }

  /** Put a candidate, or the line, at a place among all others. */
  function put(one, place) {
    const from = sequence.indexOf(one);
    const to = Math.min(last(one), Math.max(0, place));
    if (from === to && (drawn || one !== LINE)) return;
    drawn ||= one === LINE;
    sequence.splice(from, 1);
    sequence.splice(to, 0, one);
    arrange();
    changed();
  }

  /** Move a candidate, or the line, one place up or down. */
  function move(one, way, from = null) {
    const place = sequence.indexOf(one) + way;
    if (place < 0 || place > last(one)) {
      // The line that nobody has drawn yet is drawn where it is.
      if (one === LINE && !drawn) drawLine(size);
      return;
    }
    put(one, place);
    const { element } = one === LINE ? line : rows[one];
    (from ?? element).focus();
    element.scrollIntoView({ block: "nearest" });
    say(one === LINE ? counted("cut_said", cut()) : whereabouts(one));
  }

  function whereabouts(index) {
    const rank = order().indexOf(index);
    const moved = t("moved", { name: name(index), place: rank + 1, of: size });
    return drawn ? `${moved} ${t(rank < cut() ? "moved_above" : "moved_below")}` : moved;
  }

  /** Say after how many candidates "not similar" begins. */
  function drawLine(above) {
    put(LINE, above);
    say(counted("cut_said", cut()));
  }

  /** Let an element follow the pointer. `land` gets the number of others above it. */
  function draggable(element, grip, land) {
    let scroll = 0;
    const follow = (event) => {
      event.preventDefault();
      scroll = event.clientY < EDGE ? -8 : event.clientY > window.innerHeight - EDGE ? 8 : 0;
      const above = [...list.children].filter((other) => {
        const box = other.getBoundingClientRect();
        return other !== element && box.top + box.height / 2 < event.clientY;
      });
      land(above.length);
    };
    grip.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      dragged = element;
      element.classList.add("dragged");
      const timer = setInterval(() => scroll && window.scrollBy(0, scroll), 16);
      grip.addEventListener("pointermove", follow);
      const over = () => {
        clearInterval(timer);
        dragged = null;
        element.classList.remove("dragged");
        grip.removeEventListener("pointermove", follow);
        grip.removeEventListener("pointerup", over);
        grip.removeEventListener("pointercancel", over);
        grip.removeEventListener("lostpointercapture", over);
      };
      for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) grip.addEventListener(end, over);
    });
  }

  /** The candidate at which the listener is: by focus, else the one that plays. */
  function current() {
    const focused = document.activeElement?.closest?.(".ordered");
    if (focused) return Number(focused.dataset.index);
    const active = /^candidate (\d+)$/.exec(exhibition.player.active ?? "");
    return active ? Number(active[1]) : null;
  }

  function walk(way) {
    const at = current();
    const place = at === null ? (way > 0 ? 0 : size - 1) : order().indexOf(at) + way;
    if (place < 0 || place >= size) return;
    const index = order()[place];
    rows[index].element.focus();
    rows[index].element.scrollIntoView({ block: "nearest" });
    exhibition.player.choose(`candidate ${index}`);
  }

  /** The usual order in words. */
  function describe({ gains, cut: above }) {
    const best = [...gains.keys()].sort((a, b) => gains[b] - gains[a]).map(letters);
    if (above === null) return enumerate(best);
    const words = { above: enumerate(best.slice(0, above)), below: enumerate(best.slice(above)) };
    return t(above === 0 ? "order_none" : above >= size ? "order_all" : "order_both", words);
  }

  return {
    showing: list,
    element: el("div", { class: "order-form" }, el("p", { class: "order-note", text: t("order_note") })),
    value: () => (drawn ? { order: order(), cut: cut() } : null),
    missing: () => t("missing_cut"),
    draft: () => ({ order: order(), cut: cut() }),
    restore(draft) {
      const { order: kept, cut: above = null } = draft;
      // What does not fit is not a draft of this question.
      const all = [...question.candidates.keys()];
      const whole = Array.isArray(kept) && kept.length === size && all.every((one) => kept.includes(one));
      const within = above === null || (Number.isInteger(above) && above >= 0 && above <= size);
      if (!whole || !within) return;
      sequence = [...kept];
      sequence.splice(above ?? size, 0, LINE);
      drawn = above !== null;
      arrange();
    },
    doubt: () => null,
    /** No candidate stands before one that is worth more; those that are worth the same may stand as they like. */
    fits: (answer, { gains, cut: above }) =>
      (above === null || answer.cut === above) &&
      answer.order.every((one, rank) => rank === 0 || gains[answer.order[rank - 1]] >= gains[one]),
    describe,
    key(event) {
      if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        const way = event.key === "ArrowUp" ? -1 : 1;
        const at = current();
        if ((event.shiftKey || event.altKey) && at !== null) move(at, way);
        else if (!event.altKey) walk(way);
        return true;
      }
      if (/^[1-9]$/.test(event.key) && Number(event.key) <= size) {
        exhibition.player.play(`candidate ${order()[Number(event.key) - 1]}`);
        return true;
      }
      if (event.key === "c" || event.key === "e") {
        const at = event.key === "e" ? null : current();
        drawLine(at === null ? size : order().indexOf(at));
        return true;
      }
      return false;
    },
    keys: () => [
      [["↑", "↓"], t("keys_walk")],
      [["⇧ ↑", "⇧ ↓"], t("keys_move")],
      [["1", String(Math.min(9, size))], t("keys_play_place")],
      [["c"], t("keys_cut")],
      [["e"], t("keys_all")],
    ],
  };
}

/** A, B, …, Z, AA, AB, … */
export function letters(index) {
  const rest = String.fromCharCode(65 + (index % 26));
  return index < 26 ? rest : letters(Math.floor(index / 26) - 1) + rest;
}

/** Whether an element comes after another one. */
function follows(other, element) {
  return Boolean(other.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
}
