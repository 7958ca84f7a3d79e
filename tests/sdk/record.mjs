// Records what the vendors' own clients send for the calls of `cases.json`: each case names a client, the options it is made
// with, the call and its parameters. The requests go to a recorder on the loopback interface, which answers with `{}`, so
// that a call fails after it was recorded. `./scripts/record-sdk-requests` installs the clients and runs this.
import http from "node:http";
import fs from "node:fs";
import OpenAI, { AzureOpenAI } from "openai";
import Anthropic from "@anthropic-ai/sdk";

const here = new URL(".", import.meta.url).pathname;
const cases = JSON.parse(fs.readFileSync(process.argv[2] ?? `${here}cases.json`, "utf8"));
const clients = { OpenAI, AzureOpenAI, Anthropic };
/** Headers that say something about the interface; all others say something about the client. */
const kept = ["authorization", "api-key", "x-api-key", "anthropic-version", "content-type", "accept"];

let seen = [];
const recorder = http.createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const headers = Object.fromEntries(kept.filter((name) => request.headers[name]).map((name) => [name, request.headers[name]]));
    seen.push({ method: request.method, path: request.url, headers, body: JSON.parse(body) });
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
});
await new Promise((ready) => recorder.listen(0, "127.0.0.1", ready));
const host = `http://127.0.0.1:${recorder.address().port}`;

const recordings = {};
for (const { name, client, options, call, params } of cases) {
  seen = [];
  const at = Object.fromEntries(Object.entries(options).map(([key, value]) => [key, String(value).replace("$host", host)]));
  if (options.defaultHeaders) at.defaultHeaders = options.defaultHeaders;
  let target = new clients[client]({ ...at, apiKey: "KEY", maxRetries: 0 });
  const path = call.split(".");
  const method = path.pop();
  for (const part of path) target = target[part];
  await Promise.resolve(target[method](params)).catch(() => {});
  if (seen.length !== 1) throw new Error(`${name}: ${seen.length} requests were recorded`);
  recordings[name] = seen[0];
}
recorder.close();
fs.writeFileSync(`${here}recordings.json`, JSON.stringify(recordings, null, 2) + "\n");
