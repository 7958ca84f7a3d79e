// PGlite behind a port: `node pglite.mjs PACKAGES`. It prints the port once it listens, then runs the SQL of each line of its
// input, a JSON string, and prints the rows of the last statement as a line of JSON. It ends with its input.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const packages = createRequire(pathToFileURL(process.argv[2] + "/"));
const { PGlite } = packages("@electric-sql/pglite");
const { vector } = packages("@electric-sql/pglite-pgvector");
const { PGLiteSocketServer } = packages("@electric-sql/pglite-socket");

const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 8 });
server.addEventListener("listening", (event) => console.log(event.detail.port));
await server.start();
for await (const line of createInterface({ input: process.stdin })) {
  const results = await db.exec(JSON.parse(line), { rowMode: "array" });
  console.log(JSON.stringify(results.at(-1)?.rows ?? []));
}
process.exit(0);
