/* Signing in: the secret is what follows # in the organiser's link, which browsers send to nobody. */

import { doing, errorPlace, post, t } from "./page.js";

const form = document.getElementById("sign-in");
const field = document.getElementById("secret");
const button = form.querySelector("button");
const error = document.getElementById("error") ?? errorPlace();

async function signIn(text) {
  const secret = text.trim().split("#").pop();
  await doing(button, error, async () => {
    try {
      await post("/api/organise/session", { secret });
    } catch (problem) {
      if (problem.status === 401) problem.message = t("sign_in_wrong");
      throw problem;
    }
    location.replace(location.pathname + location.search);
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (field.value.trim()) signIn(field.value);
  else field.focus();
});

if (location.hash.length > 1) {
  const secret = location.hash;
  history.replaceState(null, "", location.pathname + location.search);
  signIn(secret);
}
