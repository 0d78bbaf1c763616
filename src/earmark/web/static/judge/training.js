/* The training: questions whose usual answer is told afterwards. Nothing of it is an answer. */

import { button, el } from "./dom.js";
import { number, t } from "./texts.js";

/**
 * Go through the training.
 * @param {Object} app  campaign, player, keys, drafts, leave; ask(question, options, title) shows a question
 * @param {Object[]} questions  each with expected and feedback
 * @param {(details: {right: number, of: number, skipped: number}) => void} done
 */
export function train(app, questions, done, index = 0, right = 0, skipped = 0) {
  if (index >= questions.length) {
    done({ right, of: questions.length, skipped });
    return;
  }
  const question = questions[index];
  const forget = () => app.drafts.remove(`draft.${question.id}`);
  const answered = (body) => {
    const fits = asking.form.fits(body, question.expected);
    const go = () => train(app, questions, done, index + 1, right + Number(fits), skipped);
    const usual = fits ? "" : asking.form.describe(question.expected);
    const box = feedbackBox(fits, said(question, fits, usual), question.feedback, go, index + 1 === questions.length);
    forget();
    app.player.pause();
    asking.element.querySelector(".answer").replaceWith(box);
    // The question is over: there is nothing to skip any more.
    asking.element.querySelector(".asides").remove();
    app.keys.use(
      (event) => event.key === "Enter" && (go(), true),
      () => [],
    );
    box.focus();
  };
  // A clip that does not play must not keep anybody from the questions.
  const passed = () => {
    forget();
    train(app, questions, done, index + 1, right, skipped + 1);
  };
  const badge = t("training_badge", { n: number(index + 1), of: number(questions.length) });
  const options = { answered, passed, leave: () => app.leave(), badge, training: true };
  const asking = app.ask(question, options, t("training_title"));
}

/** What is said about an answer. Of a song beside itself, nobody else's answers are known: it says what it was. */
function said({ own, kind }, fits, answer) {
  if (own) return [t(fits ? "training_own_right" : `training_own_${kind}`, { answer })];
  return fits ? [t("training_right")] : [t("training_other"), t("training_expected", { answer })];
}

function feedbackBox(right, [first, ...more], feedback, go, last) {
  return el(
    "div",
    { class: `feedback banner ${right ? "good" : "warn"}`, role: "status", tabindex: "-1" },
    el("p", {}, el("strong", { text: first })),
    more.map((text) => el("p", { text })),
    feedback && el("p", { text: feedback }),
    el("p", {}, button(t(last ? "training_done" : "training_next"), { kind: "primary large", press: go })),
  );
}
