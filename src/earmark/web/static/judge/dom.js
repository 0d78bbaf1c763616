/* Building elements from text, never from HTML: what others wrote stays text. */

/**
 * Make an element.
 * @param {string} tag
 * @param {Object<string, *>} [attributes]  `class`, `text`, `on` ({event: handler}), `data`; others as attributes.
 *   `false`, `null` and `undefined` leave an attribute out, `true` writes an empty one.
 * @param {...(Node|string|null|undefined|false|Array)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "text") made.textContent = value;
    else if (name === "on") for (const [event, handler] of Object.entries(value)) made.addEventListener(event, handler);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  add(made, children);
  return made;
}

/** Append children; arrays are opened, and what is empty is left out. */
export function add(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
  return parent;
}

/** Put new children in the place of all others. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  return add(parent, children);
}

/** Set an attribute if it changes: what is set again is told to screen readers again. */
export function mark(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/* Shapes of 24 by 24. */
const SHAPES = {
  play: "M8 5.1v13.8a1 1 0 0 0 1.5.9l11-6.9a1 1 0 0 0 0-1.8l-11-6.9A1 1 0 0 0 8 5.1z",
  pause:
    "M7 4.5h3a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1zm7 0h3a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z",
  check:
    "M9.5 18.2a1.2 1.2 0 0 1-.9-.4l-4.8-5a1.2 1.2 0 1 1 1.8-1.6l3.9 4.1 8.9-9.4a1.2 1.2 0 0 1 1.8 1.6l-9.8 10.3a1.2 1.2 0 0 1-.9.4z",
  up: "M12 7.2 5.3 14a1.1 1.1 0 0 0 1.6 1.6L12 10.4l5.1 5.2a1.1 1.1 0 0 0 1.6-1.6z",
  down: "M12 16.8 5.3 10a1.1 1.1 0 0 1 1.6-1.6l5.1 5.2 5.1-5.2a1.1 1.1 0 0 1 1.6 1.6z",
  grip: "M9 4.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm6 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm-6 6a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm6 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm-6 6a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm6 0a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  loop: "M7 7h9.2l-1.9-1.9a1 1 0 0 1 1.4-1.4l3.6 3.6a1 1 0 0 1 0 1.4l-3.6 3.6a1 1 0 0 1-1.4-1.4L16.2 9H7a2 2 0 0 0-2 2v1.5a1 1 0 0 1-2 0V11a4 4 0 0 1 4-4zm10 10H7.8l1.9 1.9a1 1 0 0 1-1.4 1.4l-3.6-3.6a1 1 0 0 1 0-1.4l3.6-3.6a1 1 0 0 1 1.4 1.4L7.8 15H17a2 2 0 0 0 2-2v-1.5a1 1 0 0 1 2 0V13a4 4 0 0 1-4 4z",
  undo: "M8.7 4.3a1 1 0 0 1 0 1.4L6.4 8H14a6 6 0 0 1 0 12H8a1 1 0 0 1 0-2h6a4 4 0 0 0 0-8H6.4l2.3 2.3a1 1 0 1 1-1.4 1.4l-4-4a1 1 0 0 1 0-1.4l4-4a1 1 0 0 1 1.4 0z",
  volume:
    "M11 5.2v13.6a.9.9 0 0 1-1.5.7L5.6 16H3.9A1.9 1.9 0 0 1 2 14.1v-4.2A1.9 1.9 0 0 1 3.9 8h1.7l3.9-3.5a.9.9 0 0 1 1.5.7zm3.3 2.6a1 1 0 0 1 1.4.2 6.6 6.6 0 0 1 0 8 1 1 0 1 1-1.6-1.2 4.6 4.6 0 0 0 0-5.6 1 1 0 0 1 .2-1.4zm3-2.9a1 1 0 0 1 1.4.1 10.7 10.7 0 0 1 0 14 1 1 0 1 1-1.5-1.3 8.7 8.7 0 0 0 0-11.4 1 1 0 0 1 .1-1.4z",
  warning:
    "M10.3 3.9a2 2 0 0 1 3.4 0l8 13.6A2 2 0 0 1 20 20.5H4a2 2 0 0 1-1.7-3zM12 8a1 1 0 0 0-1 1v4.5a1 1 0 0 0 2 0V9a1 1 0 0 0-1-1zm0 8a1.2 1.2 0 1 0 0 2.4 1.2 1.2 0 0 0 0-2.4z",
};

/** An icon, which screen readers leave out. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("class", "icon");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", SHAPES[name]);
  path.setAttribute("fill-rule", "evenodd");
  drawing.append(path);
  return drawing;
}

/** A button that submits nothing by itself. */
export function button(label, { kind = "", shape = null, press = null, ...attributes } = {}) {
  return el(
    "button",
    { type: "button", class: `button ${kind}`.trim(), on: press ? { click: press } : {}, ...attributes },
    shape && icon(shape),
    el("span", { text: label }),
  );
}

/** Seconds as m:ss. */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A dialog that removes itself when it is closed. The browser gives the focus back to where it was. */
export function openDialog(title, body, actions) {
  const heading = el("h2", { id: "dialog-title", text: title, tabindex: "-1" });
  const box = el(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    heading,
    body,
    el(
      "div",
      { class: "actions" },
      actions((value = "") => box.close(value)),
    ),
  );
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}
