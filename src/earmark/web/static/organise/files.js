/* Report, exports, backup, and the end of the campaign. */

import { announce, counted, date, doing, download, get, h, post, say, t, watchScroll } from "./page.js";
import { begin } from "./frame.js";
import { ask } from "./dialog.js";
import { fill } from "./table.js";

const $ = (id) => document.getElementById(id);
let name = "campaign";
let shown = "";
watchScroll($("log-table"));

const page = begin((state) => {
  name = (state.campaign.title || "campaign").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "campaign";
  $("report-hidden").hidden = !state.hidden;
  $("report").hidden = state.hidden;
  showState(state.campaign);
  showCounts(state.counts);
  showLog();
});

function showState(campaign) {
  const now = `${campaign.state} ${campaign.since}`;
  if (now === shown) return;
  shown = now;
  const reason = campaign.reason ? ` (${campaign.reason})` : "";
  say($("state-now"), `${t(`state_${campaign.state}`)}, ${t("state_since", { time: date(campaign.since) })}${reason}.`);
  const ways = {
    open: [["pause_campaign", "paused"], ["close_campaign", "closed"]],
    paused: [["resume_campaign", "open"], ["close_campaign", "closed"]],
    stopped: [["resume_campaign", "open"], ["close_campaign", "closed"]],
    closed: [["reopen_campaign", "open"]],
  }[campaign.state];
  $("state-actions").replaceChildren(
    ...(ways ?? []).map(([words, state]) =>
      h("button", { type: "button", class: state === "closed" ? "button danger" : "button", "data-state": state, onclick: () => change(words, state) }, t(words)),
    ),
  );
}

async function change(words, state) {
  const asked = { title: t(words), text: t(`${words}_text`), button: t(words), reason: "optional", danger: state === "closed" };
  const done = await ask(asked, (reason) => post("/api/organise/campaign", { state, reason }));
  if (done === undefined) return;
  await page.refresh();
  if (state === "closed") {
    announce(t("closed_now"));
    $("report-card").focus();
    $("report-card").scrollIntoView({ block: "nearest" });
  } else announce(t("done"));
}

/** What people told besides their answers, which the page of answers lists. */
function showCounts(counts) {
  const told = ["unplayable", "skipped", "late", "comments"].filter((kind) => counts[kind] > 0);
  $("log-reports").hidden = !told.length;
  say($("log-counts"), `${told.map((kind) => counted(`log_${kind}`, counts[kind])).join(" · ")}.`);
}

async function showLog() {
  let told;
  try {
    told = await get("/api/organise/changes");
  } catch {
    return; // The bar says that the connection is lost.
  }
  $("log-none").hidden = told.changes.length > 0;
  $("log-table").hidden = told.changes.length === 0;
  fill($("log-rows"), told.changes.map((one, index) => ({ ...one, index })), (row) => `${row.time} ${row.text} ${row.index}`, [
    { class: "when", of: (row) => row.time, show: (row) => [date(row.time)] },
    { of: (row) => row.text },
  ]);
}

$("report").addEventListener("click", () =>
  doing($("report"), $("report-error"), () => download("/organise/report.html", `${name}-report.html`)),
);
$("backup").addEventListener("click", () =>
  doing($("backup"), $("backup-error"), () => download("/organise/backup.zip", `${name}-backup.zip`)),
);
$("export").addEventListener("submit", (event) => {
  event.preventDefault();
  const what = $("export-what").value;
  const format = $("export-format").value;
  const address = `/organise/export/${what}.${format}?people=${$("export-people").value}`;
  doing($("export").querySelector("button"), $("export").querySelector(".error"), () => download(address, `${name}-${what}.${format}`));
});
