/*
 * The connection: a page hears that something happened and asks for the state; it says when it hears nothing.
 * A browser has few connections to one server, so a page that nobody sees gives its own back.
 */

import { announce, get, say, t, time } from "./page.js";

const SILENT_FOR = 40_000; // The server sends a line every 15 seconds at least.
const NOT_MORE_OFTEN = 1000;
const ALSO_EVERY = 30_000; // Leases end and answers grow old though nothing happens.

const STATES = { open: "good", paused: "warn", stopped: "blue", closed: "", moved: "warn" };

/**
 * Watch the campaign.
 *
 * @param {(state: object) => void} show  called with every new state
 * @returns {{refresh: () => Promise<void>}}
 */
export function watch(show) {
  const badge = document.getElementById("state");
  const connection = document.getElementById("connection");
  let source = null;
  let heard = Date.now();
  let fetched = 0;
  let shownTime = null;
  let lost = false;
  let waiting = null;
  let lastState = null;
  let signedOut = false;

  function tell() {
    connection.dataset.state = lost ? "lost" : shownTime ? "live" : "connecting";
    if (lost) say(connection, t("live_lost", { time: shownTime ? time(shownTime) : "–" }));
    else say(connection, shownTime ? t("live_last", { time: time(shownTime) }) : t("live_connecting"));
  }

  function setLost(now, message) {
    if (now === lost) return;
    lost = now;
    tell();
    announce(lost ? (message ?? connection.textContent) : t("live"));
  }

  async function refresh() {
    fetched = Date.now();
    try {
      const state = await get(`/api/organise/state?language=${document.documentElement.lang || "en"}`);
      shownTime = new Date();
      setLost(false);
      tell();
      badge.className = `badge ${STATES[state.campaign.state] ?? ""}`;
      say(badge, t(`state_${state.campaign.state}`));
      if (lastState && lastState !== state.campaign.state) announce(badge.textContent);
      lastState = state.campaign.state;
      show(state);
    } catch (error) {
      if (error.status === 401) {
        // Asking again does not help: somebody has to open the organiser's link.
        signedOut = true;
        disconnect();
        lost = true;
        connection.dataset.state = "lost";
        say(connection, error.message);
        announce(error.message);
        return;
      }
      console.warn(error);
      setLost(true);
    }
  }

  function soon() {
    if (waiting || signedOut) return;
    const pause = Math.max(0, fetched + NOT_MORE_OFTEN - Date.now());
    waiting = setTimeout(async () => {
      waiting = null;
      await refresh();
    }, pause);
  }

  function disconnect() {
    source?.close();
    source = null;
  }

  function connect() {
    disconnect();
    if (signedOut || document.visibilityState !== "visible") return;
    source = new EventSource("/api/organise/live");
    heard = Date.now();
    source.addEventListener("changed", () => {
      heard = Date.now();
      soon();
    });
    source.addEventListener("beat", () => {
      heard = Date.now();
      setLost(false);
    });
    source.addEventListener("open", () => {
      heard = Date.now();
      if (lost) soon();
    });
    source.addEventListener("error", () => {
      setLost(true);
      // The server has refused it, and the state will say why.
      if (source?.readyState === EventSource.CLOSED) soon();
    });
  }

  setInterval(() => {
    if (source && (Date.now() - heard > SILENT_FOR || source.readyState === EventSource.CLOSED)) {
      setLost(true);
      connect();
    }
  }, 5000);
  setInterval(() => document.visibilityState === "visible" && soon(), ALSO_EVERY);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return disconnect();
    connect();
    soon();
  });
  window.addEventListener("offline", () => setLost(true));
  window.addEventListener("online", () => {
    connect();
    soon();
  });
  tell();
  connect();
  soon();
  return { refresh };
}
