// Formats times, sizes and untrusted text for people.

const CLOCK = new Intl.DateTimeFormat([], {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const DAY = new Intl.DateTimeFormat([], { dateStyle: "medium" });
const NUMBER = new Intl.NumberFormat("en");
// Invisible characters and direction marks, which would let a sender disguise its text.
const INVISIBLE = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]",
  "g",
);

export const VERDICTS = {
  verified: "verified",
  unverified: "not verified",
  unchecked: "unchecked",
};

/** A whole number with thousands separators. */
export const number = (value) => NUMBER.format(value);

/** A count with its noun. */
export const count = (value, noun, plural = noun + "s") =>
  `${number(value)} ${value === 1 ? noun : plural}`;

/** The time of day of a Unix time, with milliseconds. */
export function clockTime(seconds) {
  const milliseconds = Math.floor((seconds % 1) * 1000);
  return `${CLOCK.format(seconds * 1000)}.${String(milliseconds).padStart(3, "0")}`;
}

/** The time of day of a Unix time, to the second. */
export const clock = (seconds) => CLOCK.format(seconds * 1000);

/** The date of a Unix time. */
export const day = (seconds) => DAY.format(seconds * 1000);

export function duration(milliseconds) {
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
  if (milliseconds < 60000)
    return `${(milliseconds / 1000).toFixed(milliseconds < 10000 ? 2 : 1)} s`;
  const minutes = Math.floor(milliseconds / 60000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((milliseconds % 60000) / 1000)} s`
    : `${(minutes / 60).toFixed(1)} h`;
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Text with each invisible character replaced by its code. */
export const plain = (text) =>
  text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
