// Requests to the receiver.

/** The details of one delivery. */
export const delivery = (token, sequence) => request(`/live/delivery?${query(token, sequence)}`);

/** Rows of a token from one sequence to another, with current verdicts. */
export async function rows(token, first, last) {
  const query = new URLSearchParams({ token, first, last });
  return (await request(`/live/rows?${query}`)).rows;
}

/** Send a delivery again to another URL; returns the answer. */
export const replay = (token, sequence, url) =>
  request("/live/replay", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Hookproof-Page": "1" },
    body: JSON.stringify({ token, sequence, url }),
  });

/** The URL of the raw body or the raw request. */
export const download = (part, token, sequence) => `/live/${part}?${query(token, sequence)}`;

const query = (token, sequence) => new URLSearchParams({ token, sequence });

/** Send a request; throws an Error with one line. */
async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The receiver does not answer.");
  }
  const result = await answer
    .json()
    .catch(() => ({ error: `The receiver answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(result.error);
  return result;
}
