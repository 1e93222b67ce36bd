"""What makes a page hard to read in its window: scrolling sideways, and pale text."""

from typing import Any, Final

from playwright.sync_api import Page

# Contrast of the Web Content Accessibility Guidelines 2.2, success criterion 1.4.3; text from 24
# pixels on, or bold and from 18.66 on, is large.
LEAST: Final = 4.5
LEAST_OF_LARGE: Final = 3.0

PALE_TEXTS: Final = """
([least, leastOfLarge]) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, ground) =>
    [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches &&
    getComputedStyle(document.documentElement).colorScheme.includes("dark");
  const ground = (element) => {
    if (!element) return dark ? [18, 18, 18, 1] : [255, 255, 255, 1];
    const own = colour(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const light = (rgb) => {
    const [red, green, blue] = rgb.slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const pale = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim();
    const element = texts.currentNode.parentElement;
    if (!text || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest("[aria-hidden=true], [disabled], script, style")) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const ink = element.closest("svg") ? style.fill : style.color;
    const [one, other] = [light(over(colour(ink), below)), light(below)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? leastOfLarge : least)) {
      const place = [element.tagName.toLowerCase(), ...element.classList].join(".");
      pale.set(place + text, `${place}: ${contrast.toFixed(2)} "${text.slice(0, 30)}"`);
    }
  }
  return [...pale.values()];
}
"""


def pale_texts(page: Page) -> Any:
    """The visible texts whose contrast is too low, each with its element."""
    return page.evaluate(PALE_TEXTS, [LEAST, LEAST_OF_LARGE])


def excess_width(page: Page) -> Any:
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
