// Elements and numbers as text: the little that all parts of the page share.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are null or false are left out, children may be texts. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A number as people read it: enough digits to tell routes apart, no more. */
export function shown(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toLocaleString("en", { maximumFractionDigits: size >= 1000 ? 1 : size >= 0.1 ? 2 : 4 });
}

export function shownSeconds(seconds) {
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  return `${seconds.toLocaleString("en", { maximumFractionDigits: seconds < 10 ? 2 : 1 })} s`;
}
