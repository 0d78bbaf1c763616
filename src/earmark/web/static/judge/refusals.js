/* What is said when the server refuses something: in the language of the page. The server's own words are English, and
   made for whoever reads its log. */

import { ApiError } from "./api.js";
import { t } from "./texts.js";

/** Texts by the code of an error. */
const SAID = {
  listen: "error_listen",
  invalid: "error_invalid",
  forbidden: "error_forbidden",
  unknown: "error_unknown",
  conflict: "error_conflict",
  changed: "error_changed",
  closed: "error_closed",
  over: "error_closed",
  too_large: "error_too_large",
  full: "error_full",
  rejected: "error_rejected",
  enough: "error_enough",
  paused: "error_paused",
  join: "error_first",
  consent: "error_first",
  questionnaire: "error_first",
};

/** Why something did not work, in a sentence. @param {Error} problem */
export function reason(problem) {
  if (!(problem instanceof ApiError)) return t("error_other");
  if (problem.passing) return t(problem.status ? "fail_busy" : "fail_network");
  return t(SAID[problem.code] ?? "error_other");
}
