/* What the browser keeps. Private windows and full disks may refuse: then it is kept for this page only. */

class Shelf {
  #place;
  /** Only what the browser did not take: of everything else, another tab may know more. */
  #instead = new Map();

  /** @param {() => Storage} place @param {string} prefix */
  constructor(place, prefix) {
    this.prefix = prefix;
    try {
      this.#place = place();
    } catch {
      this.#place = null;
    }
  }

  get(name, otherwise = null) {
    const key = this.prefix + name;
    try {
      const text = this.#instead.get(key) ?? this.#place?.getItem(key) ?? null;
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise;
    }
  }

  set(name, value) {
    const key = this.prefix + name;
    const text = JSON.stringify(value);
    if (this.#attempt((place) => place.setItem(key, text))) {
      this.#instead.delete(key);
      return;
    }
    this.#instead.set(key, text);
    // What was kept before is not true any more.
    this.#attempt((place) => place.removeItem(key));
  }

  remove(name) {
    const key = this.prefix + name;
    this.#instead.delete(key);
    this.#attempt((place) => place.removeItem(key));
  }

  #attempt(work) {
    try {
      if (this.#place) work(this.#place);
      return this.#place !== null;
    } catch {
      return false;
    }
  }
}

/** Settings of this device, for all campaigns. */
export const device = new Shelf(() => window.localStorage, "earmark.");
/** What is kept on this device for one link. */
export const linkShelf = (token) => new Shelf(() => window.localStorage, `earmark.${token.slice(-12)}.`);
/** What is kept in this tab for one link: what was typed and not sent. */
export const tabShelf = (token) => new Shelf(() => window.sessionStorage, `earmark.${token.slice(-12)}.`);
