// All eight operations by openapi-fetch, with the types that openapi-typescript generates.
import createClient from "openapi-fetch";
import type { paths } from "./document.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };

const [url = "", projectID = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
const project = { projectID };

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("a value is missing");
  return value;
}

const endpoint = "https://127.0.0.1/orders";
const created = await client.POST("/api/v1/projects/{projectID}/endpoints", {
  params: { path: project },
  body: { name: "orders", url: endpoint, owner_id: "owner-1", is_disabled: true },
});
const endpointID: string = present(created.data?.data.uid);
const path = { ...project, endpointID };
const fetched = await client.GET("/api/v1/projects/{projectID}/endpoints/{endpointID}", {
  params: { path },
});
const rolled = await client.PUT(
  "/api/v1/projects/{projectID}/endpoints/{endpointID}/expire_secret",
  { params: { path }, body: { expiration: 1, secret: "a-secret-of-its-own-0123456789abcdef" } },
);
const secrets: string[] = present(rolled.data?.data.secrets).map((secret) => present(secret.value));

const links = await client.GET("/api/v1/projects/{projectID}/portal-links", {
  params: { path: project, query: { perPage: 1, sort: "ASC" } },
});
const portalLinkID: string = present(links.data?.data.content[0]?.uid);
const link = { params: { path: { ...project, portalLinkID } } };
const updated = await client.PUT(
  "/api/v1/projects/{projectID}/portal-links/{portalLinkID}",
  { ...link, body: { name: "renamed", owner_id: "owner-1" } },
);
const retrieved = await client.GET(
  "/api/v1/projects/{projectID}/portal-links/{portalLinkID}",
  link,
);

const sources = await client.GET("/api/v1/projects/{projectID}/sources", {
  params: { path: project },
});
const more: boolean = present(sources.data?.data.pagination.has_next_page);
const event = await client.POST("/api/v1/projects/{projectID}/events/broadcast", {
  params: { path: project },
  body: {
    event_type: "order.paid",
    data: { order: "1042", lines: [{ count: 2 }] },
    custom_headers: { "X-Shop": "example" },
    idempotency_key: "order-1042-paid",
  },
});
const headers: Record<string, unknown> = present(event.data?.data.headers);
// @ts-expect-error: what is typed has no field of another name
event.data?.data.evnt_type;

const held = [
  fetched.data?.data.url === endpoint,
  secrets.includes("a-secret-of-its-own-0123456789abcdef"),
  updated.data?.data.name === "renamed",
  retrieved.data?.data.name === "renamed",
  sources.data?.data.content.length !== 0,
  typeof more === "boolean",
  headers["X-Shop"] === "example",
];
console.log(held.every(Boolean) ? "done" : `not as sent: ${held.join(" ")}`);
