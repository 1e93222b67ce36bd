// Elements made of tags, attributes and text. Strings only ever become text nodes: what a stranger sent is never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `on` holds listeners. An attribute that is null or false is left out, but for those of ARIA. */
export function el(tag, { on = {}, ...attributes } = {}, ...children) {
  return furnish(document.createElement(tag), attributes, on, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, {}, children);
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

function furnish(element, attributes, listeners, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("aria-")) element.setAttribute(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const [name, listener] of Object.entries(listeners)) {
    element.addEventListener(name, listener);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
