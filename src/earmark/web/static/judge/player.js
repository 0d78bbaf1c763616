/* The player. All clips of a question share one position: switching from one to another goes on at the same place.
   A voice is one clip from one place on. Switching, seeking and looping fade one voice out while the next fades in,
   both scheduled on the audio clock, so there is neither a gap nor a click. The two gains always add up to one, so the
   mix is never louder than the louder clip. Nothing plays before a gesture. */

import { Clips } from "./clips.js";

/** Seconds of a fade. */
export const FADE = 0.01;
/** The shortest stretch that can be repeated, in seconds. */
export const SHORTEST_LOOP = 0.5;
/** Time to schedule ahead, in seconds. */
const AHEAD = 0.02;

/**
 * @typedef {{id: string, url: string, seconds: number}} Track
 * @typedef {{track: Track, source: AudioBufferSourceNode, gain: GainNode, start: number, offset: number, end: number}}
 *   Voice
 * @typedef {{seconds: number, plays: number, first: number|null}} Heard
 */
export class Player extends EventTarget {
  /** @type {AudioContext|null} */
  context = null;
  /** @type {Map<string, Track>} */
  tracks = new Map();
  /** @type {Map<string, Heard>} */
  heard = new Map();
  /** @type {{start: number, end: number}|null} */
  loop = null;
  /** The track that plays, or would. @type {string|null} */
  active = null;
  playing = false;
  switches = 0;
  /** How often somebody went to another place of the clips. */
  jumps = 0;
  /** Tracks that could not be fetched for now ("network") or do not play ("unusable"). @type {Map<string, string>} */
  failed = new Map();

  #level = 1;
  #position = 0;
  /** @type {Voice|null} */
  #voice = null;
  /** The voice that is scheduled to follow, where a stretch is repeated. @type {Voice|null} */
  #next = null;
  /**
   * All voices that are not yet part of what was heard: the two above, and those that end. A busy browser tells late
   * that one has ended, and what it played counts before that.
   * @type {Set<Voice>}
   */
  #voices = new Set();
  #output = null;
  #began = 0;
  /** Changes with every command, so that a clip which arrives late does not start. */
  #turn = 0;
  #waiting = null;

  /** @param {(url: string) => Promise<ArrayBuffer>} fetchBytes */
  constructor(fetchBytes, options = {}) {
    super();
    this.clips = new Clips(fetchBytes, options);
  }

  // What is on the page.

  /** Take the clips of a question. @param {Track[]} tracks */
  load(tracks, heard = {}) {
    this.stop();
    for (const voice of this.#voices) this.#collect(voice);
    this.tracks = new Map(tracks.map((track) => [track.id, track]));
    this.heard = new Map(tracks.map(({ id }) => [id, heard[id] ?? { seconds: 0, plays: 0, first: null }]));
    this.failed.clear();
    this.loop = null;
    this.active = tracks[0]?.id ?? null;
    this.switches = 0;
    this.#position = 0;
    this.#began = performance.now();
    this.clips.needed = new Set(tracks.map(({ url }) => url));
    for (const track of tracks) this.#prepare(track);
    this.#tell();
  }

  /** Fetch the clips of the question after this one. @param {string[]} urls */
  ahead(urls) {
    for (const url of urls) this.clips.fetch(url).catch(() => {});
  }

  async #prepare(track) {
    try {
      await this.clips.fetch(track.url);
      // Decoding needs a context, and a context needs a gesture. Before it, the bytes are enough.
      if (this.context && this.tracks.get(track.id) === track && this.#fits())
        await this.clips.decode(this.context, track.url);
    } catch (problem) {
      if (this.tracks.get(track.id) === track) this.#fail(track, problem);
    }
  }

  /** Whether all clips of the question fit into memory when decoded; if not, each is decoded when it is wanted. */
  #fits() {
    let bytes = 0;
    for (const track of this.tracks.values()) bytes += track.seconds * this.context.sampleRate * 8;
    return bytes <= this.clips.decoded.limit;
  }

  #fail(track, problem) {
    this.failed.set(track.id, problem?.passing ? "network" : "unusable");
    if (this.active === track.id) this.#halt();
    this.dispatchEvent(new CustomEvent("failed", { detail: { id: track.id, problem } }));
    this.#tell();
  }

  /** Try a clip again that failed. */
  retry(id) {
    this.failed.delete(id);
    this.#tell();
    const track = this.tracks.get(id);
    if (track) this.#prepare(track);
  }

  // What can be done.

  /** Make the audio context. Must be called in a gesture the first time. */
  unlock() {
    if (!this.context) {
      // iPhones mute web pages by the silent switch unless a page says that it plays media.
      if (navigator.audioSession) navigator.audioSession.type = "playback";
      const Context = window.AudioContext ?? window.webkitAudioContext;
      this.context = new Context({ latencyHint: "interactive" });
      this.#output = this.context.createGain();
      this.#output.gain.value = this.#level;
      this.#output.connect(this.context.destination);
      this.context.addEventListener("statechange", () => this.#onState());
      for (const track of this.tracks.values()) this.#prepare(track);
    }
    // Also after an interruption by a call, where the state is neither running nor suspended.
    if (this.context.state !== "running") this.context.resume().catch(() => {});
    return this.context;
  }

  /** Where sound goes: tests listen here. */
  get output() {
    return this.#output;
  }

  get level() {
    return this.#level;
  }

  /** The level, 0 to 1: an amplitude. */
  set level(value) {
    this.#level = Math.min(1, Math.max(0, value));
    if (this.#output) this.#output.gain.setTargetAtTime(this.#level, this.context.currentTime, 0.02);
  }

  /** Play a track from the shared position, or go on with the active one. */
  async play(id = this.active) {
    const track = this.tracks.get(id);
    if (!track || this.failed.has(id)) return;
    const context = this.unlock();
    if (this.playing && this.#voice?.track === track && !this.loading) return;
    const turn = ++this.#turn;
    if (this.active !== id && this.#anyHeard()) this.switches += 1;
    // While the clip is fetched and decoded, the other one keeps playing.
    this.active = id;
    this.playing = true;
    let buffer = this.clips.ready(track.url);
    this.#waiting = buffer ? null : id;
    this.#tell();
    if (!buffer) {
      try {
        buffer = await this.clips.decode(context, track.url);
      } catch (problem) {
        if (this.tracks.get(id) === track) this.#fail(track, problem);
        return;
      }
      if (turn !== this.#turn) return;
      this.#waiting = null;
    }
    await this.#running();
    if (turn !== this.#turn) return;
    this.#start(track, buffer, this.position);
    this.#tell();
  }

  pause() {
    this.#turn += 1;
    this.#position = this.position;
    this.#halt();
    this.#tell();
  }

  toggle(id = this.active) {
    if (this.playing && id === this.active) this.pause();
    else this.play(id);
  }

  /** Switch to another track: it plays on where the other was, or waits there. */
  choose(id) {
    if (!this.tracks.has(id) || id === this.active) return;
    if (this.playing) {
      this.play(id);
    } else {
      this.active = id;
      this.#tell();
    }
  }

  /** @param {number} seconds */
  seek(seconds) {
    const track = this.tracks.get(this.active);
    if (!track) return;
    const place = Math.min(Math.max(0, seconds), Math.max(0, this.#length(track) - 0.05));
    if (this.loop && (place < this.loop.start || place >= this.loop.end)) this.loop = null;
    const buffer = this.clips.ready(track.url);
    if (this.playing && this.#voice && buffer) this.#start(track, buffer, place);
    this.#position = place;
    this.jumps += 1;
    this.#tell();
  }

  /** Repeat a stretch; null for none. @param {{start: number, end: number}|null} stretch */
  setLoop(stretch) {
    const position = this.position;
    if (stretch) {
      const longest = Math.max(...[...this.tracks.values()].map((track) => track.seconds), SHORTEST_LOOP);
      const start = Math.min(Math.max(0, stretch.start), longest - SHORTEST_LOOP);
      stretch = { start, end: Math.min(longest, Math.max(stretch.end, start + SHORTEST_LOOP)) };
    }
    this.loop = stretch;
    const inside = !stretch || (position >= stretch.start && position < stretch.end);
    const place = inside ? position : stretch.start;
    const track = this.tracks.get(this.active);
    const buffer = track && this.clips.ready(track.url);
    if (this.playing && this.#voice && buffer) this.#start(track, buffer, place);
    this.#position = place;
    this.jumps += 1;
    this.#tell();
  }

  stop() {
    this.#turn += 1;
    this.#halt();
    this.#position = 0;
    this.#tell();
  }

  // What can be asked.

  /** Where the transport is, in seconds. */
  get position() {
    if (!this.#voice || !this.playing) return this.#position;
    const now = this.context.currentTime;
    const voice = this.#next && now >= this.#next.start ? this.#next : this.#voice;
    return Math.min(voice.offset + Math.max(0, now - voice.start), this.#length(voice.track));
  }

  /** Whether the active clip is still on its way. */
  get loading() {
    return this.#waiting !== null;
  }

  /** Seconds for which a track was heard, up to now. */
  secondsHeard(id) {
    let seconds = this.heard.get(id)?.seconds ?? 0;
    for (const voice of this.#voices) if (voice.track.id === id) seconds += this.#sounded(voice);
    return seconds;
  }

  #anyHeard() {
    return [...this.heard.keys()].some((id) => this.secondsHeard(id) > 0);
  }

  // Voices.

  #length(track) {
    return this.clips.ready(track.url)?.duration ?? track.seconds;
  }

  /** The part of a clip that is repeated: all of it where it ends before the chosen stretch begins. */
  #stretch({ duration }) {
    if (!this.loop) return null;
    const { start, end } = this.loop;
    const short = Math.min(end, duration) - start < Math.min(SHORTEST_LOOP, end - start);
    return short ? { start: 0, end: duration } : { start, end: Math.min(end, duration) };
  }

  /** Fade to a new voice. */
  #start(track, buffer, place) {
    const now = this.context.currentTime + AHEAD;
    const stretch = this.#stretch(buffer);
    if (place >= (stretch?.end ?? buffer.duration) - FADE || place < (stretch?.start ?? 0)) place = stretch?.start ?? 0;
    if (this.#voice?.track !== track) {
      const heard = this.heard.get(track.id);
      heard.plays += 1;
      heard.first ??= Math.round(performance.now() - this.#began);
    }
    const voice = this.#voiceAt(track, buffer, now, place);
    this.#drop(this.#next);
    this.#end(this.#voice, now);
    this.#next = null;
    this.#voice = voice;
    this.#follow(voice, buffer);
  }

  /** @returns {Voice} a voice that fades in at a time of the audio clock */
  #voiceAt(track, buffer, start, offset) {
    const gain = this.context.createGain();
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(gain).connect(this.#output);
    gain.gain.setValueAtTime(0, 0);
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(1, start + FADE);
    source.start(start, offset);
    const voice = { track, source, gain, start, offset, end: Infinity };
    this.#voices.add(voice);
    source.onended = () => this.#onEnded(voice);
    return voice;
  }

  /** Let a voice end where the stretch to repeat ends, and schedule the next; or at the end of the clip. */
  #follow(voice, buffer) {
    const stretch = this.#stretch(buffer);
    if (!stretch) {
      voice.end = voice.start + buffer.duration - voice.offset;
      return;
    }
    const turnaround = voice.start + Math.max(stretch.end - voice.offset - FADE, FADE);
    this.#end(voice, turnaround);
    this.#next = this.#voiceAt(voice.track, buffer, turnaround, stretch.start);
  }

  /** Fade a voice out from a time on. */
  #end(voice, time) {
    // One that is ending anyway, at a turnaround or at the end of the clip, is left alone.
    if (!this.#voices.has(voice) || voice.end <= time + FADE) return;
    const { gain } = voice.gain;
    const level = Math.min(1, Math.max(0, (time - voice.start) / FADE));
    // What was scheduled is written anew up to the time, also where it is past: the fade starts from where the gain is.
    gain.cancelScheduledValues(0);
    gain.setValueAtTime(0, 0);
    gain.setValueAtTime(0, voice.start);
    if (time > voice.start + FADE) gain.linearRampToValueAtTime(1, voice.start + FADE);
    if (level === 1) gain.setValueAtTime(1, time);
    else gain.linearRampToValueAtTime(level, Math.max(time, voice.start));
    gain.linearRampToValueAtTime(0, time + FADE);
    voice.end = time + FADE;
    voice.source.stop(time + FADE + 0.005);
  }

  /** Take back a voice that was scheduled and is not wanted any more. */
  #drop(voice) {
    if (!this.#voices.has(voice)) return;
    if (this.context.currentTime + AHEAD > voice.start) {
      this.#end(voice, this.context.currentTime + AHEAD);
      return;
    }
    this.#voices.delete(voice);
    voice.source.onended = null;
    voice.source.stop();
    voice.source.disconnect();
    voice.gain.disconnect();
  }

  #halt() {
    this.playing = false;
    this.#waiting = null;
    if (!this.context) return;
    const now = this.context.currentTime + AHEAD / 4;
    this.#drop(this.#next);
    this.#end(this.#voice, now);
    this.#voice = null;
    this.#next = null;
  }

  #onEnded(voice) {
    voice.source.disconnect();
    voice.gain.disconnect();
    this.#collect(voice);
    if (voice !== this.#voice) return;
    if (this.#next) {
      this.#voice = this.#next;
      this.#next = null;
      const buffer = this.#voice.source.buffer;
      if (this.loop) this.#follow(this.#voice, buffer);
    } else if (this.playing) {
      // The clip is over. Another one may be on its way; it starts when it is there.
      this.#position = 0;
      this.#voice = null;
      if (this.loading) return;
      this.#turn += 1;
      this.playing = false;
      this.#tell();
    }
  }

  /** Count what a voice played. */
  #collect(voice) {
    if (!this.#voices.delete(voice)) return;
    this.heard.get(voice.track.id).seconds += this.#sounded(voice);
  }

  #sounded(voice) {
    return Math.max(0, Math.min(this.context.currentTime, voice.end) - voice.start);
  }

  // The context.

  /** Wait until the context runs, for at most a second: a context that is not allowed to start never does. */
  async #running() {
    const context = this.context;
    if (context.state === "running") return;
    await Promise.race([context.resume().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 1_000))]);
  }

  #onState() {
    if (this.context.state === "running" || !this.playing || !this.#voice) return;
    // A call, another app, headphones pulled out: the clock stands still. A press on play goes on.
    this.pause();
    this.dispatchEvent(new Event("interrupted"));
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
