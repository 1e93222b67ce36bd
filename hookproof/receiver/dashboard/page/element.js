// Creates elements. Strings only become text nodes, so what a sender wrote is never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an HTML element; `on` holds listeners. Attributes that are null or false are left out,
 * except for those of ARIA.
 */
export function el(tag, { on = {}, ...attributes } = {}, ...children) {
  return fill(document.createElement(tag), attributes, on, children);
}

/** Create an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, {}, children);
}

export function byId(id) {
  return document.getElementById(id);
}

function fill(element, attributes, listeners, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("aria-")) element.setAttribute(name, value);
    else if (value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  for (const [name, listener] of Object.entries(listeners)) {
    element.addEventListener(name, listener);
  }
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== ""),
  );
  return element;
}
