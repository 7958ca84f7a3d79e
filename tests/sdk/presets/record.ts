// Records what the vendors' own clients send for what the presets ask. Every call is checked by the TypeScript compiler against
// the types that its client brings along, so that a member that the vendor does not know is an error here; the requests go
// to a recorder on the loopback interface, which answers with `{}`, so that most calls fail after they were recorded.
// `./scripts/record-preset-requests` installs the clients and runs this.
import http from "node:http";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import { AzureKeyCredential, SearchClient, SearchIndexClient } from "@azure/search-documents";
import { Client as Elasticsearch, type estypes } from "@elastic/elasticsearch";
import { Client as OpenSearch, type API } from "@opensearch-project/opensearch";
import { Pinecone } from "@pinecone-database/pinecone";
import { QdrantClient } from "@qdrant/js-client-rest";
import { PostgrestClient } from "@supabase/postgrest-js";
import { Turbopuffer } from "@turbopuffer/turbopuffer";
import { HttpClient as Milvus } from "@zilliz/milvus2-sdk-node";
import { Meilisearch } from "meilisearch";
import { Client as Typesense } from "typesense";
import weaviate, { ApiKey } from "weaviate-ts-client";

const QUESTION = "QUESTION";
const VECTOR = [0.25, -1.5];
const TOP_K = 3;
const KEY = "KEY";
/** Headers that say something about the interface; all others say something about the client. */
const KEPT = ["authorization", "apikey", "api-key", "x-typesense-api-key", "x-pinecone-api-version", "content-profile"];

type Recorded = { method: string; path: string; query: Record<string, string>; headers: Record<string, string>; body: unknown };
let seen: Recorded[] = [];
const recorder = http.createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", () => {
    const url = new URL(request.url ?? "/", "http://h");
    const headers: Record<string, string> = {};
    for (const name of KEPT) {
      const value = request.headers[name];
      if (typeof value === "string") headers[name] = value;
    }
    const query = Object.fromEntries(url.searchParams);
    const body = text === "" ? null : JSON.parse(text);
    const path = decodeURIComponent(url.pathname);
    // What a client asks of its own accord before it sends anything.
    if (path !== "/v1/meta" && path !== "/.well-known/openid-configuration" && path !== "/v1/.well-known/openid-configuration") {
      seen.push({ method: request.method ?? "", path, query, headers, body });
    }
    response.setHeader("content-type", "application/json");
    response.end(path === "/v1/meta" ? '{"version":"1.32.0"}' : "{}");
  });
});
await new Promise<void>((ready) => recorder.listen(0, "127.0.0.1", () => ready()));
const { port } = recorder.address() as AddressInfo;
const host = `http://127.0.0.1:${port}`;

type Preset = { client: string; requests: Record<string, Recorded> };
const recordings: Record<string, Preset> = {};
/** The package of each preset's client, by the beginning of the preset's name. */
const PACKAGES = {
  azure: "@azure/search-documents",
  elasticsearch: "@elastic/elasticsearch",
  meilisearch: "meilisearch",
  milvus: "@zilliz/milvus2-sdk-node",
  opensearch: "@opensearch-project/opensearch",
  pinecone: "@pinecone-database/pinecone",
  postgrest: "@supabase/postgrest-js",
  qdrant: "@qdrant/js-client-rest",
  turbopuffer: "@turbopuffer/turbopuffer",
  typesense: "typesense",
  weaviate: "weaviate-ts-client",
};

function client(preset: string): string {
  const known = Object.entries(PACKAGES).find(([beginning]) => preset.startsWith(beginning));
  if (known === undefined) throw new Error(`no client of ${preset}`);
  const described = JSON.parse(fs.readFileSync(`node_modules/${known[1]}/package.json`, "utf8"));
  return `${known[1]} ${described.version}`;
}

/** `of` is `search`, or the method and path of the preset's own probe. */
async function record(preset: string, of: string, call: () => PromiseLike<unknown>): Promise<void> {
  seen = [];
  await Promise.resolve()
    .then(call)
    .catch((error: unknown) => {
      if (seen.length === 0) throw error;
    });
  if (seen.length !== 1) throw new Error(`${preset}, ${of}: ${seen.length} requests were recorded`);
  (recordings[preset] ??= { client: client(preset), requests: {} }).requests[of] = seen[0];
}

const qdrant = new QdrantClient({ url: host, apiKey: KEY, checkCompatibility: false });
await record("qdrant", "search", () =>
  qdrant.query("docs", { query: VECTOR, limit: TOP_K, params: { exact: false }, with_payload: true }),
);
await record("qdrant", "GET /aliases", () => qdrant.getAliases());
await record("qdrant", "GET /collections/docs_2026_11", () => qdrant.getCollection("docs_2026_11"));
await record("qdrant", "POST /collections/docs_2026_11/points/count", () => qdrant.count("docs_2026_11", { exact: true }));

const elasticsearch = new Elasticsearch({ node: host, auth: { apiKey: KEY }, maxRetries: 0 });
const elastic: Record<string, estypes.SearchRequest> = {
  elasticsearch: { query: { match: { text: QUESTION } } },
  "elasticsearch-knn": { knn: { field: "embedding", query_vector: VECTOR, k: TOP_K, num_candidates: 100 } },
  "elasticsearch-hybrid": {
    retriever: {
      rrf: {
        retrievers: [
          { standard: { query: { match: { text: QUESTION } } } },
          { knn: { field: "embedding", query_vector: VECTOR, k: 50, num_candidates: 100 } },
        ],
        rank_window_size: 50,
        rank_constant: 60,
      },
    },
  },
};
for (const [preset, request] of Object.entries(elastic)) {
  await record(preset, "search", () =>
    elasticsearch.search({
      index: "docs",
      preference: "HASH",
      allow_partial_search_results: false,
      size: TOP_K,
      _source: ["text", "url"],
      ...request,
    }),
  );
  await record(preset, "GET /docs/_alias", () => elasticsearch.indices.getAlias({ index: "docs" }));
  await record(preset, "GET /_cluster/health/docs_v41", () => elasticsearch.cluster.health({ index: "docs_v41" }));
  await record(preset, "GET /docs_v41/_count", () => elasticsearch.count({ index: "docs_v41" }));
  await record(preset, "GET /docs_v41/_settings", () => elasticsearch.indices.getSettings({ index: "docs_v41" }));
}

const opensearch = new OpenSearch({ node: host, auth: { username: "user", password: "password" }, maxRetries: 0 });
const open: Record<string, { pipeline?: string; query: API.Search_RequestBody["query"] }> = {
  opensearch: { query: { match: { text: QUESTION } } },
  "opensearch-knn": { query: { knn: { embedding: { vector: VECTOR, k: TOP_K } } } },
  "opensearch-hybrid": {
    pipeline: "rrf",
    query: {
      hybrid: { queries: [{ match: { text: { query: QUESTION } } }, { knn: { embedding: { vector: VECTOR, k: 50 } } }] },
    },
  },
};
for (const [preset, { pipeline, query }] of Object.entries(open)) {
  await record(preset, "search", () =>
    opensearch.search({
      index: "docs",
      preference: "HASH",
      allow_partial_search_results: false,
      ...(pipeline === undefined ? {} : { search_pipeline: pipeline }),
      body: { size: TOP_K, _source: ["text", "url"], query },
    }),
  );
  await record(preset, "GET /docs/_alias", () => opensearch.indices.getAlias({ index: "docs" }));
  await record(preset, "GET /_cluster/health/docs_v41", () => opensearch.cluster.health({ index: "docs_v41" }));
  await record(preset, "GET /docs_v41/_count", () => opensearch.count({ index: "docs_v41" }));
  await record(preset, "GET /docs_v41/_settings", () => opensearch.indices.getSettings({ index: "docs_v41" }));
}

const milvus = new Milvus({ endpoint: host, token: KEY });
await record("milvus", "search", () =>
  milvus.search({
    collectionName: "docs",
    data: [VECTOR],
    annsField: "vector",
    limit: TOP_K,
    outputFields: ["id", "text", "url"],
    consistencyLevel: "Strong",
  }),
);
await record("milvus-bm25", "search", () =>
  milvus.search({
    collectionName: "docs",
    // The client has no type for a text here; the guide of full text search has.
    data: [QUESTION as unknown as number[]],
    annsField: "sparse",
    limit: TOP_K,
    outputFields: ["id", "text", "url"],
    searchParams: { params: {} },
    consistencyLevel: "Strong",
  }),
);
for (const preset of ["milvus", "milvus-bm25"]) {
  const collectionName = "docs_v2";
  await record(preset, "POST /v2/vectordb/aliases/describe", () => milvus.describeAlias({ aliasName: "docs" }));
  await record(preset, "POST /v2/vectordb/collections/get_load_state", () => milvus.getCollectionLoadState({ collectionName }));
  await record(preset, "POST /v2/vectordb/collections/get_stats", () => milvus.getCollectionStatistics({ collectionName }));
  await record(preset, "POST /v2/vectordb/collections/describe", () => milvus.describeCollection({ collectionName }));
}

const pinecone = new Pinecone({ apiKey: KEY }).index({ host, namespace: "v41" });
await record("pinecone", "search", () =>
  pinecone.searchRecords({ query: { inputs: { text: QUESTION }, topK: TOP_K }, fields: ["chunk_text", "url"] }),
);
await record("pinecone-knn", "search", () => pinecone.query({ vector: VECTOR, topK: TOP_K, includeMetadata: true }));
for (const preset of ["pinecone", "pinecone-knn"]) {
  await record(preset, "POST /describe_index_stats", () => pinecone.describeIndexStats());
}

const credential = new AzureKeyCredential(KEY);
const options = { allowInsecureConnection: true, serviceVersion: "2024-07-01", retryOptions: { maxRetries: 0 } };
const azure = new SearchClient<{ id: string; chunk: string; url: string; vector: number[] }>(host, "docs", credential, options);
const indexes = new SearchIndexClient(host, credential, options);
const sessionId = "HASH";
const select = ["id" as const, "chunk" as const, "url" as const];
const nearest = (k: number) => ({
  queries: [
    { kind: "vector" as const, vector: VECTOR, fields: ["vector" as const], kNearestNeighborsCount: k, exhaustive: false },
  ],
});
await record("azure-search", "search", () => azure.search(QUESTION, { select, top: TOP_K, sessionId }));
await record("azure-search-knn", "search", () =>
  azure.search(undefined, { select, top: TOP_K, sessionId, vectorSearchOptions: nearest(TOP_K) }),
);
await record("azure-search-hybrid", "search", () =>
  azure.search(QUESTION, { select, top: TOP_K, sessionId, vectorSearchOptions: nearest(50) }),
);
for (const preset of ["azure-search", "azure-search-knn", "azure-search-hybrid"]) {
  const of = new SearchClient(host, "docs-index2", credential, options);
  await record(preset, "GET /indexes/docs-index2", () => indexes.getIndex("docs-index2"));
  await record(preset, "GET /indexes/docs-index2/docs/$count", () => of.getDocumentsCount());
}

const meilisearch = new Meilisearch({ host, apiKey: KEY }).index("docs");
await record("meilisearch", "search", () =>
  meilisearch.search(QUESTION, { limit: TOP_K, attributesToRetrieve: ["id", "text", "url"], showRankingScore: true }),
);
await record("meilisearch", "GET /indexes/docs/stats", () => meilisearch.getStats());
await record("meilisearch", "GET /indexes/docs", () => meilisearch.getRawInfo());

const typesense = new Typesense({ nodes: [{ host: "127.0.0.1", port, protocol: "http" }], apiKey: KEY, numRetries: 0 });
await record("typesense", "search", () =>
  typesense.collections("docs").documents().search({ q: QUESTION, query_by: "text", per_page: TOP_K }, {}),
);
await record("typesense", "GET /aliases/docs", () => typesense.aliases("docs").retrieve());
await record("typesense", "GET /collections/docs_v2", () => typesense.collections("docs_v2").retrieve());

const turbopuffer = new Turbopuffer({ apiKey: KEY, baseURL: host, maxRetries: 0 }).namespace("v41");
const asked = { top_k: TOP_K, include_attributes: ["text", "url"], consistency: { level: "strong" as const } };
await record("turbopuffer", "search", () => turbopuffer.query({ rank_by: ["text", "BM25", QUESTION], ...asked }));
await record("turbopuffer-knn", "search", () => turbopuffer.query({ rank_by: ["vector", "ANN", VECTOR], ...asked }));
for (const preset of ["turbopuffer", "turbopuffer-knn"]) {
  await record(preset, "GET /v2/namespaces/v41/metadata", () => turbopuffer.metadata());
}

const postgrest = new PostgrestClient(host, { headers: { apikey: KEY, authorization: `Bearer ${KEY}` }, schema: "v2" });
await record("postgrest", "search", () => postgrest.rpc("match_documents", { query_text: QUESTION, match_count: TOP_K }));
await record("postgrest-knn", "search", () =>
  postgrest.rpc("match_documents", { query_embedding: VECTOR, match_count: TOP_K }),
);

const docs = weaviate.client({ scheme: "http", host: `127.0.0.1:${port}`, apiKey: new ApiKey(KEY) });
const get = (scored: string) =>
  docs.graphql.get().withClassName("Docs").withFields(`text url _additional { id ${scored} }`).withLimit(TOP_K);
await record("weaviate", "search", () => get("score").withBm25({ query: QUESTION }).do());
await record("weaviate-knn", "search", () => get("distance").withNearVector({ vector: VECTOR }).do());
await record("weaviate-hybrid", "search", () =>
  get("score").withHybrid({ query: QUESTION, vector: VECTOR, alpha: 0.5 }).do(),
);
for (const preset of ["weaviate", "weaviate-knn", "weaviate-hybrid"]) {
  await record(preset, "GET /v1/schema/Docs_v2/shards", () => docs.schema.shardsGetter().withClassName("Docs_v2").do());
  await record(preset, "GET /v1/schema/Docs_v2", () => docs.schema.classGetter().withClassName("Docs_v2").do());
  await record(preset, "POST /v1/graphql", () =>
    docs.graphql.aggregate().withClassName("Docs_v2").withFields("meta { count }").do(),
  );
}

// What clients of other languages recorded before.
Object.assign(recordings, JSON.parse(fs.readFileSync("others.json", "utf8")));
recorder.close();
fs.writeFileSync(process.argv[2] ?? "recordings.json", JSON.stringify(recordings, null, 2) + "\n");
process.exit(0);
