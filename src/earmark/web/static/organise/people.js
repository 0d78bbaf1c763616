/* People: links for them, and what is done about them. */

import { announce, copy, count, doing, get, h, post, t, watchScroll } from "./page.js";
import { begin } from "./frame.js";
import { ask } from "./dialog.js";
import { fill } from "./table.js";
import * as cells from "./assessors.js";

const $ = (id) => document.getElementById(id);
let title = document.title;
let local = false;

watchScroll($("assessors-table"));

const page = begin((state) => {
  title = state.campaign.title;
  const rows = state.assessors;
  $("assessors-none").hidden = rows.length > 0;
  $("assessors-table").hidden = rows.length === 0;
  fill($("assessors-rows"), rows, (row) => row.assessor, [
    cells.person,
    cells.standing,
    cells.answers,
    cells.seconds,
    cells.agreement,
    cells.traps,
    cells.last,
    { class: "actions", of: (row) => [row.state, row.link, row.erased, row.name], show: actions },
  ]);
  showOpenLinks();
});

async function showOpenLinks() {
  let told;
  try {
    told = await get("/api/organise/people");
  } catch {
    return; // The bar says that the connection is lost.
  }
  local = told.local;
  const links = told.open_links.filter((one) => !one.revoked);
  $("open-links").hidden = !links.length;
  $("open-links-rows").replaceChildren(
    ...links.map((one) =>
      h(
        "li",
        {},
        t("open_links_used", { used: count(one.used), seats: count(one.seats) }),
        one.role === "pilot" ? h("span", { class: "badge blue" }, t("person_pilot")) : null,
      ),
    ),
  );
}

/* ---- what is done about one person ---- */

function actions(row, cell) {
  const possible = [];
  if (row.state !== "pilot") {
    if (row.state === "active") possible.push(["pause", "optional"], ["reject", "needed"]);
    if (row.state === "paused") possible.push(["resume", "optional"], ["reject", "needed"]);
    if (row.state === "rejected") possible.push(["reinstate", "optional"]);
  }
  if (!row.erased) possible.push(["new_link", null]);
  if (row.link) possible.push(["revoke", null]);
  if (!row.erased) possible.push(["erase", null]);
  const name = cells.nameOf(row);
  const buttons = possible.map(([action, reason]) =>
    h(
      "button",
      {
        type: "button",
        class: `button small ${["reject", "erase"].includes(action) ? "danger" : ""}`,
        "data-action": action,
        onclick: () => act(action, reason, row, name),
      },
      t(`act_${action}`),
    ),
  );
  return [
    h(
      "details",
      { class: "menu", open: cell.querySelector("details")?.open ?? false },
      h("summary", {}, t("col_actions"), h("span", { class: "visually-hidden" }, `: ${name}`)),
      h("div", { class: "row" }, ...buttons),
    ),
  ];
}

async function act(action, reason, row, name) {
  const who = encodeURIComponent(row.assessor);
  const asked = {
    title: t(`act_${action}`),
    text: t(`confirm_${action}`, { name }),
    button: t(`act_${action}`),
    reason,
    danger: ["reject", "erase", "revoke"].includes(action),
  };
  const made = await ask(asked, (why) => {
    if (action === "new_link") return post(`/api/organise/people/${who}/new-link`);
    if (action === "revoke") return post(`/api/organise/people/${who}/revoke`);
    if (action === "erase") return post(`/api/organise/erase/${who}`, { confirm: true });
    return post(`/api/organise/people/${who}/${action}`, { reason: why });
  });
  if (made === undefined) return;
  if (made.invitations) showLinks(made.invitations.map((one) => ({ ...one, name: one.name || name })));
  else announce(t("done"));
  await page.refresh();
  // The button is gone; whoever uses the keyboard goes on where they were.
  if (document.activeElement === document.body)
    document.querySelector(`tr[data-key="${CSS.escape(row.assessor)}"] summary`)?.focus();
}

/* ---- links, which are shown once ---- */

function showLinks(links) {
  const rows = links.map((one) => {
    const who = one.name || t("invite_open_made", { count: count(one.seats) });
    const field = h("input", { type: "text", readonly: true, class: "link", value: one.link, "aria-label": who });
    field.addEventListener("focus", () => field.select());
    const button = h("button", { type: "button", class: "button small" }, t("copy"), h("span", { class: "visually-hidden" }, `: ${who}`));
    button.addEventListener("click", () => copy(one.link, button));
    const subject = encodeURIComponent(t("invite_mail_subject", { title }));
    const body = encodeURIComponent(t("invite_mail_body", { title, link: one.link }));
    const mail = h("a", { class: "button small quiet", href: `mailto:?subject=${subject}&body=${body}` }, t("invite_mail"), h("span", { class: "visually-hidden" }, `: ${who}`));
    return h("li", {}, h("span", { class: "who" }, who), h("div", { class: "row" }, field, button, mail));
  });
  $("made-rows").replaceChildren(...rows);
  const all = $("copy-all");
  all.hidden = links.length < 2;
  all.onclick = () => copy(links.map((one) => `${one.name}\t${one.link}`).join("\n"), all);
  $("made-local").hidden = !local;
  $("made").hidden = false;
  $("made").focus();
  $("made").scrollIntoView({ block: "nearest" });
}

function onSubmit(form, action) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    doing(button, form.querySelector(".error"), async () => {
      await action();
      await page.refresh();
    });
  });
}

onSubmit($("invite-names"), async () => {
  const names = $("names").value.split("\n").map((name) => name.trim()).filter(Boolean);
  const made = await post("/api/organise/invitations", { names, pilot: $("names-pilot").checked });
  $("names").value = "";
  await showOpenLinks();
  showLinks(made.invitations);
});

onSubmit($("invite-open"), async () => {
  const seats = Number($("seats").value);
  const made = await post("/api/organise/invitations", { seats, pilot: $("open-pilot").checked });
  await showOpenLinks();
  showLinks(made.invitations.map((one) => ({ ...one, seats })));
});

$("revoke-open").addEventListener("click", async () => {
  const asked = { title: t("open_links_revoke"), text: t("open_links_revoke_text"), button: t("open_links_revoke"), danger: true };
  if ((await ask(asked, () => post("/api/organise/links/revoke"))) !== undefined) await page.refresh();
});

$("preview").addEventListener("click", () =>
  doing($("preview"), $("preview-error"), async () => {
    // Opened before the request, as a window that opens later is taken for an advertisement.
    const tab = window.open("", "_blank");
    try {
      const { link } = await post("/api/organise/preview");
      if (tab) {
        tab.opener = null;
        tab.location.replace(link);
      }
      $("preview-ready").hidden = false;
      $("preview-ready").replaceChildren(t("preview_ready"), " ", h("a", { href: link, target: "_blank", rel: "noopener" }, t("preview_open")));
    } catch (error) {
      tab?.close();
      throw error;
    }
  }),
);
