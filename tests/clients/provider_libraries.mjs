// Has providers' packages of npm verify and sign, as JSON on standard input says:
//
// {"at": ..., "verify": [["stripe", {secret, headers, body, url}], ...],
//  "sign": [["stripe", {secret, body, url, at, id}], ...]}
//
// Prints {"verify": [true, ...], "sign": [{header: value}, ...]}. Headers are in small letters.
// It is always `at`, in Unix seconds: Paddle accepts five, and starting may take longer.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const seconds = (at) => Math.floor(at);

const verifiers = {
  stripe: async ({ secret, headers, body }) =>
    require("stripe").webhooks.signature.verifyHeader(body, headers["stripe-signature"], secret),
  "@octokit/webhooks-methods": async ({ secret, headers, body }) => {
    const { verify } = await import(`${process.argv[2]}/@octokit/webhooks-methods/dist-node/index.js`);
    return verify(secret, body, headers["x-hub-signature-256"]);
  },
  "@slack/bolt": async ({ secret, headers, body }) =>
    require("@slack/bolt").isValidSlackRequest({ signingSecret: secret, headers: {
      "x-slack-signature": headers["x-slack-signature"],
      "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
    }, body }),
  "@shopify/shopify-api": async ({ secret, headers, body }) => {
    require("@shopify/shopify-api/adapters/node");
    const { shopifyApi, LogSeverity } = require("@shopify/shopify-api");
    const shopify = shopifyApi({
      apiKey: "key", apiSecretKey: secret, apiVersion: headers["x-shopify-api-version"],
      hostName: "hooks.example", isEmbeddedApp: false, scopes: [],
      logger: { level: LogSeverity.Error },
    });
    const rawRequest = { headers, method: "POST", url: "/hooks" };
    return (await shopify.webhooks.validate({ rawBody: body, rawRequest })).valid;
  },
  twilio: async ({ secret, headers, body, url }) => {
    const { validateRequest, validateRequestWithBody } = require("twilio");
    const signature = headers["x-twilio-signature"];
    return headers["content-type"].includes("form")
      ? validateRequest(secret, signature, url, Object.fromEntries(new URLSearchParams(body)))
      : validateRequestWithBody(secret, signature, url, body);
  },
  "discord-interactions": async ({ secret, headers, body }) =>
    require("discord-interactions").verifyKey(
      body, headers["x-signature-ed25519"], headers["x-signature-timestamp"], secret),
  square: async ({ secret, headers, body, url }) =>
    require("square").WebhooksHelper.verifySignature({
      requestBody: body, signatureHeader: headers["x-square-hmacsha256-signature"],
      signatureKey: secret, notificationUrl: url,
    }),
  "@paddle/paddle-node-sdk": async ({ secret, headers, body }) => {
    const { Paddle } = require("@paddle/paddle-node-sdk");
    return new Paddle("key").webhooks.isSignatureValid(body, secret, headers["paddle-signature"]);
  },
  "@line/bot-sdk": async ({ secret, headers, body }) =>
    require("@line/bot-sdk").validateSignature(body, secret, headers["x-line-signature"]),
  "@linear/sdk": async ({ secret, headers, body }) => {
    const { LinearWebhookClient } = await import(`${process.argv[2]}/@linear/sdk/dist/webhooks/index.mjs`);
    return new LinearWebhookClient(secret).verify(Buffer.from(body), headers["linear-signature"]);
  },
  "@sendgrid/eventwebhook": async ({ secret, headers, body }) => {
    const { EventWebhook } = require("@sendgrid/eventwebhook");
    const verifier = new EventWebhook();
    return verifier.verifySignature(
      verifier.convertPublicKeyToECDSA(secret), body,
      headers["x-twilio-email-event-webhook-signature"],
      headers["x-twilio-email-event-webhook-timestamp"]);
  },
  razorpay: async ({ secret, headers, body }) =>
    require("razorpay").validateWebhookSignature(body, headers["x-razorpay-signature"], secret),
  pusher: async ({ secret, headers, body }) => {
    const Pusher = require("pusher");
    const pusher = new Pusher({ appId: "1", key: headers["x-pusher-key"], secret, cluster: "eu" });
    return pusher.webhook({ headers, rawBody: body }).isValid();
  },
  svix: async ({ secret, headers, body }) => {
    new (require("svix").Webhook)(secret).verify(body, headers);
    return true;
  },
  standardwebhooks: async ({ secret, headers, body }) => {
    new (require("standardwebhooks").Webhook)(secret).verify(body, headers);
    return true;
  },
};

const signers = {
  stripe: async ({ secret, body, at }) => ({
    "stripe-signature": require("stripe").webhooks.generateTestHeaderString(
      { payload: body, secret, timestamp: seconds(at) }),
  }),
  "@octokit/webhooks-methods": async ({ secret, body }) => {
    const { sign } = await import(`${process.argv[2]}/@octokit/webhooks-methods/dist-node/index.js`);
    return { "x-hub-signature-256": await sign(secret, body) };
  },
  twilio: async ({ secret, body, url }) => ({
    "content-type": "application/x-www-form-urlencoded",
    "x-twilio-signature": require("twilio").getExpectedTwilioSignature(
      secret, url, Object.fromEntries(new URLSearchParams(body))),
  }),
  svix: async ({ secret, body, at, id }) => ({
    "svix-id": id, "svix-timestamp": `${seconds(at)}`,
    "svix-signature": new (require("svix").Webhook)(secret).sign(id, new Date(seconds(at) * 1000), body),
  }),
  standardwebhooks: async ({ secret, body, at, id }) => ({
    "webhook-id": id, "webhook-timestamp": `${seconds(at)}`,
    "webhook-signature": new (require("standardwebhooks").Webhook)(secret)
      .sign(id, new Date(seconds(at) * 1000), body),
  }),
};

// What refuses a delivery by an error is no more than one that returns false.
async function verdict(library, delivery) {
  const verify = verifiers[library];
  try {
    return Boolean(await verify(delivery));
  } catch (error) {
    if (/Cannot find|not a function|not defined|undefined/.test(error.message)) throw error;
    return false;
  }
}

const given = JSON.parse(readFileSync(0, "utf8"));
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length ? parts : [given.at * 1000]));
  }
  static now() {
    return given.at * 1000;
  }
};
const verify = [];
for (const [library, delivery] of given.verify) verify.push(await verdict(library, delivery));
const sign = [];
for (const [library, event] of given.sign) sign.push(await signers[library](event));
process.stdout.write(JSON.stringify({ verify, sign }));
process.exit(0);
