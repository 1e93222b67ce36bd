// Consumers of GitHub's signatures for Node.js: `node zoo.mjs KIND` prints its port.
// X-GitHub-Delivery identifies an event. "good" does nothing wrong; each other has one mistake.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const kind = process.argv[2];
const SECRET = "a secret";
const known = new Set();
let effects = 0;

const mac = (content) => `sha256=${createHmac("sha256", SECRET).update(content).digest("hex")}`;

function equal(wanted, given) {
  const [one, other] = [Buffer.from(wanted), Buffer.from(given)];
  if (kind === "lengths-not-compared") return timingSafeEqual(one, other); // raises RangeError
  if (kind === "truthy") return Boolean(given);
  if (kind === "beginning-compared") return given.startsWith("sha256=") && wanted.startsWith(given);
  return one.length === other.length && timingSafeEqual(one, other);
}

function signedOf(body) {
  if (kind === "latin-1") return Buffer.from(body.toString("latin1"), "utf8");
  if (kind !== "written-again") return body;
  try {
    return JSON.stringify(JSON.parse(body.toString()));
  } catch {
    return body;
  }
}

function take(identifier) {
  if (kind !== "no-identifiers" && known.has(identifier)) return;
  known.add(identifier);
  effects += 1;
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
    if (kind === "first-chunk") break;
  }
  return Buffer.concat(chunks);
}

function answer(request, body) {
  const given = request.headers["x-hub-signature-256"] ?? "";
  if (kind !== "not-verified" && !equal(mac(signedOf(body)), given)) return 401;
  let event;
  try {
    event = JSON.parse(body.toString());
  } catch (error) {
    if (kind === "ends-by-bad-json") process.exit(1);
    return 400;
  }
  if (typeof event !== "object") return 400;
  take(request.headers["x-github-delivery"]);
  return 200;
}

const server = createServer(async (request, response) => {
  try {
    if (request.url === "/effects") {
      response.end(String(effects));
      return;
    }
    response.statusCode = answer(request, await bodyOf(request));
  } catch {
    response.statusCode = 500;
  }
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
