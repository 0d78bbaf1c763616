/* Questions before something happens: what it does, in words, and why it is done, for the log. */

import { doing, errorPlace, h, t } from "./page.js";

/**
 * Ask before something is done.
 *
 * @param {object} asked
 * @param {string} asked.title
 * @param {string} asked.text  what will happen
 * @param {[string, string|Node][]} [asked.about]  what it is about: names and values
 * @param {string} asked.button
 * @param {"needed"|"optional"|null} [asked.reason]
 * @param {Node[]} [asked.fields]  more to fill in
 * @param {boolean} [asked.danger]
 * @param {(reason: string) => Promise<any>} act  errors are shown in the dialog, which stays open
 * @returns {Promise<any>} what `act` returned; undefined where it was cancelled
 */
export function ask({ title, text, about = [], button, reason = null, fields = [], danger = false }, act) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const why = h("textarea", { id: "dialog-reason", rows: 2, required: reason === "needed" });
    const error = errorPlace();
    const go = h("button", { type: "submit", class: danger ? "button danger" : "button primary" }, button);
    const stop = h("button", { type: "button", class: "button", onclick: () => dialog.close() }, t("cancel"));
    const form = h(
      "form",
      { method: "dialog", novalidate: true },
      h("h2", { id: "dialog-title" }, title),
      h("p", { id: "dialog-text" }, text),
      about.length > 0 && h("dl", { class: "about" }, ...about.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
      ...fields,
      reason &&
        h("div", { class: "field" }, h("label", { for: "dialog-reason" }, t(`reason_${reason}`)), why),
      error,
      h("div", { class: "actions" }, stop, go),
    );
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text" }, form);
    let result;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (reason === "needed" && !why.value.trim()) {
        error.hidden = false;
        error.textContent = t("reason_missing");
        why.setAttribute("aria-invalid", "true");
        why.focus();
        return;
      }
      result = await doing(go, error, async () => (await act(why.value.trim())) ?? true);
      if (result !== undefined) dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
