// Shows a vector of `hookproof vectors` to a package for Standard Webhooks, which
// `npm install standardwebhooks svix` puts beside this file.
//
//     hookproof vectors --dialect standard-webhooks \
//         --against 'node verify_standard_webhooks.mjs svix'
//
// Exits with 0 if the package accepts it and with 1 if not. The package reads the clock itself, so
// the clock is set to the time of the vector.
import { readFileSync } from "node:fs";

const vector = JSON.parse(readFileSync(0, "utf8"));
const { Webhook, WebhookVerificationError } = await import(process.argv[2]);
const body = Buffer.from(vector.body_b64, "base64");
const headers = Object.fromEntries(vector.headers.toReversed());

Date.now = () => vector.now * 1000;

function isVerified(secret) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) {
      return true; // the signature is verified first; then the body is parsed as JSON
    }
    if (error instanceof WebhookVerificationError) {
      return false;
    }
    throw error;
  }
}

process.exit(vector.secrets.some(isVerified) ? 0 : 1);
