/* The button that begins paid work. It works inside the frame of a platform, where there are no cookies: the link that
   comes back is all that a person needs. */

import { makeKey } from "../judge/api.js";
import { device } from "../judge/memory.js";

const { start, words } = JSON.parse(document.getElementById("begin").textContent);
const button = document.getElementById("start");
const problem = document.getElementById("problem");
const label = button.textContent;

/** Return the key of this work, which stays in this browser: with it, the same link comes back each time. */
function keyOf({ platform, worker, assignment }) {
  const name = `paid ${platform} ${worker} ${assignment}`;
  const key = device.get(name) ?? makeKey();
  device.set(name, key);
  return key;
}

function fail(text) {
  problem.hidden = false;
  problem.textContent = text;
  button.removeAttribute("aria-disabled");
  button.textContent = label;
}

button.addEventListener("click", async () => {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  button.textContent = words.working;
  problem.hidden = true;
  let answer;
  let said;
  try {
    answer = await fetch("/api/recruit/start", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Earmark": "recruit" },
      body: JSON.stringify({ ...start, key: keyOf(start) }),
      credentials: "omit",
      cache: "no-store",
    });
    said = await answer.json();
  } catch {
    fail(words.no_connection);
    return;
  }
  if (answer.ok) {
    // The link replaces this page, so that the back button does not lead here again.
    location.replace(said.link);
    return;
  }
  // The server's own words are English, and made for whoever reads its log.
  fail(words[`refused_${said?.error?.code}`] ?? words.refused);
});
