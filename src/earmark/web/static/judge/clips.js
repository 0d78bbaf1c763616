/* The clips in memory: bytes as they came, and sound as it is played. Both are bounded; what was not used for longest
   goes first. Half a minute of stereo takes about 10 MB when decoded, which matters on a phone. */

const DECODED_BYTES = 64 * 2 ** 20;
const ENCODED_BYTES = 24 * 2 ** 20;

/** Keeps what was used last, up to a number of bytes. */
export class Cache {
  #items = new Map();

  /** @param {number} limit @param {(value: *) => number} size */
  constructor(limit, size) {
    this.limit = limit;
    this.size = size;
    this.bytes = 0;
  }

  get(key) {
    const value = this.#items.get(key);
    if (value === undefined) return null;
    this.#items.delete(key);
    this.#items.set(key, value);
    return value;
  }

  has(key) {
    return this.#items.has(key);
  }

  /** @param {Set<string>} [needed]  keys that go last, because they are on the page */
  set(key, value, needed = new Set()) {
    this.delete(key);
    this.#items.set(key, value);
    this.bytes += this.size(value);
    for (const pass of [(other) => !needed.has(other), () => true]) {
      for (const other of [...this.#items.keys()]) {
        if (this.bytes <= this.limit) return;
        if (other !== key && pass(other)) this.delete(other);
      }
    }
  }

  delete(key) {
    const value = this.#items.get(key);
    if (value === undefined) return;
    this.bytes -= this.size(value);
    this.#items.delete(key);
  }
}

export class Clips {
  #fetching = new Map();
  #decoding = new Map();

  /** @param {(url: string) => Promise<ArrayBuffer>} fetchBytes */
  constructor(fetchBytes, { decodedBytes = DECODED_BYTES, encodedBytes = ENCODED_BYTES } = {}) {
    this.fetchBytes = fetchBytes;
    this.decoded = new Cache(decodedBytes, (buffer) => buffer.length * buffer.numberOfChannels * 4);
    this.encoded = new Cache(encodedBytes, (bytes) => bytes.byteLength);
    /** The clips on the page, which stay in memory as long as they fit. @type {Set<string>} */
    this.needed = new Set();
  }

  /** Fetch without decoding: for the questions that come next. */
  fetch(url) {
    const there = this.encoded.get(url);
    if (there) return Promise.resolve(there);
    return once(this.#fetching, url, async () => {
      const bytes = await this.fetchBytes(url);
      this.encoded.set(url, bytes, this.needed);
      return bytes;
    });
  }

  /** The sound of a clip if it can be played at once. */
  ready(url) {
    return this.decoded.get(url);
  }

  /** @param {BaseAudioContext} context @returns {Promise<AudioBuffer>} */
  decode(context, url) {
    const there = this.decoded.get(url);
    if (there) return Promise.resolve(there);
    return once(this.#decoding, url, async () => {
      const bytes = await this.fetch(url);
      // Decoding takes the bytes away, so it gets a copy.
      const buffer = await decodeBytes(context, bytes.slice(0));
      this.decoded.set(url, buffer, this.needed);
      return buffer;
    });
  }
}

/** Do something once for a key, also when it is asked for twice before it is done. */
function once(running, key, work) {
  if (!running.has(key))
    running.set(
      key,
      work().finally(() => running.delete(key)),
    );
  return running.get(key);
}

/* Older Safari has only the form with callbacks. */
function decodeBytes(context, bytes) {
  return new Promise((resolve, reject) => {
    const promise = context.decodeAudioData(bytes, resolve, reject);
    promise?.then(resolve, reject);
  });
}
