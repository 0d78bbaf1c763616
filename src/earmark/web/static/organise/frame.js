/* The bar that all pages of the organiser have: how the campaign stands, the connection, signing out. */

import { doing, post, say, t } from "./page.js";
import { watch } from "./live.js";

/** Begin: the frame follows the campaign, and so does the page, by `show`. */
export function begin(show) {
  // The secret of the organiser's link must not stay in the address of a page that somebody shares.
  if (location.hash.length > 20) history.replaceState(null, "", location.pathname + location.search);
  const leave = document.getElementById("sign-out");
  leave.addEventListener("click", () =>
    doing(leave, null, async () => {
      await post("/api/organise/leave");
      location.assign("/organise");
    }),
  );
  const problem = document.getElementById("problem");
  return watch((state) => {
    const [words, message] = state.settings_problem ? ["settings_wrong", state.settings_problem] : ["estimates_wait", state.failure];
    problem.hidden = !message;
    if (message) say(problem, t(words, { message }));
    show(state);
  });
}
