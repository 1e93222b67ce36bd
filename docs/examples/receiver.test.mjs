// Tests software that sends webhooks: `node --test receiver.test.mjs`. The receiver is a process of
// `hookproof receive`, which ends when its standard input closes: at the latest with this one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

let receiver;
let addresses;

before(async () => {
  receiver = spawn("hookproof", ["receive", "--json", "--until-stdin-closes"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: receiver.stdout })) {
    addresses = JSON.parse(line);
    break;
  }
});

after(() => receiver.stdin.end());

async function control(method, path, content) {
  const body = content === undefined ? undefined : JSON.stringify(content);
  const answer = await fetch(addresses.control + path, { method, body });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
}

// The software under test, which tries again until it gets a 2xx.
async function announceOrder(url, ca, secret) {
  const body = JSON.stringify({ order: 1 });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const options = { method: "POST", ca, headers: { "X-Webhook-Signature": signature } };
  for (let attempt = 1; attempt <= 3; attempt++) {
    const status = await new Promise((resolve, reject) => {
      const sent = request(url, options, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode));
      });
      sent.on("error", reject);
      sent.end(body);
    });
    if (status < 300) {
      return;
    }
  }
}

test("an order is announced again after a failure, and signed", async () => {
  const { token, url } = await control("POST", "/tokens");
  await control("PUT", `/tokens/${token}/script`, { replies: [{ status: 503 }, { status: 200 }] });
  await control("PUT", `/tokens/${token}/secrets`, { secrets: ["a secret"] });

  await announceOrder(url, readFileSync(addresses.ca), "a secret");

  const arrived = await control("GET", `/tokens/${token}/deliveries?count=2&timeout=5`);
  assert.equal(arrived.deliveries.length, 2);
  for (const { verdict, body_b64 } of arrived.deliveries) {
    assert.ok(verdict.verified, `${verdict.reason}: ${verdict.detail}`);
    assert.deepEqual(JSON.parse(Buffer.from(body_b64, "base64")), { order: 1 });
  }
});
