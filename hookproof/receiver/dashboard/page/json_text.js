// Indents JSON for reading. The text is split into pieces, never parsed and serialized again, so
// numbers, the order of keys and escapes stay as they were sent.

const PIECE = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;
export const MOST_PIECES = 20000;

/**
 * Lines of pieces `{kind, text}` for a JSON text, null for any other text. With `cut` only the
 * beginning is indented.
 */
export function indentJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const pieces = text.match(PIECE) ?? [];
  return { lines: linesOf(pieces.slice(0, MOST_PIECES)), cut: pieces.length > MOST_PIECES };
}

function linesOf(pieces) {
  const lines = [];
  let line = [];
  let depth = 0;
  const breakLine = () => {
    lines.push(line);
    line = depth > 0 ? [{ kind: "space", text: "  ".repeat(Math.min(depth, 40)) }] : [];
  };
  pieces.forEach((text, place) => {
    const after = pieces[place + 1];
    const empty = (text === "{" && after === "}") || (text === "[" && after === "]");
    if ((text === "}" || text === "]") && !closesEmpty(pieces, place)) {
      depth -= 1;
      breakLine();
    }
    line.push({ kind: kindOf(text, after), text: text === ":" ? ": " : text });
    if ((text === "{" || text === "[") && !empty) {
      depth += 1;
      breakLine();
    } else if (text === ",") {
      breakLine();
    }
  });
  lines.push(line);
  return lines;
}

const closesEmpty = (pieces, place) => pieces[place - 1] === (pieces[place] === "}" ? "{" : "[");

function kindOf(text, after) {
  if (text.startsWith('"')) return after === ":" ? "key" : "string";
  if (/^[[\]{},:]$/.test(text)) return "mark";
  return /^[-0-9]/.test(text) ? "number" : "word";
}
