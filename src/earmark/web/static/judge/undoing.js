/* Taking the last answer back: the same question comes once more, with what was answered before. */

import { ApiError, makeKey } from "./api.js";
import { reason } from "./refusals.js";
import { t } from "./texts.js";

/** @param {Object} app  api, shelf, drafts, outbox, turns, ending; once, say, tell, showProgress */
export async function undo(app) {
  const last = app.shelf.get("last");
  if (!last) return;
  if (!app.outbox.empty) {
    app.tell(t("undo_later"));
    return;
  }
  await app.once(() => takeBack(app, last));
}

async function takeBack(app, last) {
  try {
    // What the server is saying at this moment is older than this, and would put another question on the page.
    await app.turns.settled();
    // The key is kept before it is sent: where the answer is lost, the same request is made once more.
    last.key ??= makeKey();
    app.shelf.set("last", last);
    const { question, progress } = await app.api.post("undo", { id: last.id, key: last.key });
    app.shelf.remove("last");
    app.turns.forgetHandedIn(last.id);
    app.showProgress(progress);
    if (!question) {
      app.tell(t("undo_gone"));
      return;
    }
    app.ending.count(-1);
    // The comment of the answer is in the log already.
    const said = last.draft?.comment?.trim() ?? "";
    if (last.draft) app.drafts.set(`draft.${question.id}`, { ...last.draft, said });
    app.turns.askAgain(question);
    if (last.passed) app.tell(t("undone_earlier"));
    else app.say(t("undone"));
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    if (!problem.passing) app.shelf.remove("last");
    app.tell(problem.passing ? reason(problem) : t("undo_gone"));
  }
}
