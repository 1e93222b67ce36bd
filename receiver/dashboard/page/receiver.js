// What the page asks of the receiver.

/** Everything about one delivery. */
export const delivery = (token, sequence) => ask(`/live/delivery?${place(token, sequence)}`);

/** Rows of a token from one sequence to another, judged anew. */
export async function rows(token, first, last) {
  const query = new URLSearchParams({ token, first, last });
  return (await ask(`/live/rows?${query}`)).rows;
}

/** Send a delivery again to another URL; what was answered. */
export const replay = (token, sequence, url) =>
  ask("/live/replay", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Hookproof-Page": "1" },
    body: JSON.stringify({ token, sequence, url }),
  });

/** Where the raw body or the raw request can be saved from. */
export const download = (part, token, sequence) => `/live/${part}?${place(token, sequence)}`;

const place = (token, sequence) => new URLSearchParams({ token, sequence });

/** Asks, and throws an Error that says in one line what went wrong. */
async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The receiver does not answer.");
  }
  const told = await answer.json().catch(() => ({ error: `The receiver answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(told.error);
  return told;
}
