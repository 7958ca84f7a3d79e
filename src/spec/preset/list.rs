//! The presets that this program brings along.

/// Every built-in preset of a deployed system: its name and its text.
pub static SYSTEMS: &[(&str, &str)] = &[
    ("anythingllm", include_str!("../../../presets/anythingllm.yaml")),
    ("dify", include_str!("../../../presets/dify.yaml")),
    ("dify-agent", include_str!("../../../presets/dify-agent.yaml")),
    ("dify-input", include_str!("../../../presets/dify-input.yaml")),
    ("flowise", include_str!("../../../presets/flowise.yaml")),
    ("hayhooks", include_str!("../../../presets/hayhooks.yaml")),
    ("langgraph", include_str!("../../../presets/langgraph.yaml")),
    ("open-webui", include_str!("../../../presets/open-webui.yaml")),
    ("openai-rag", include_str!("../../../presets/openai-rag.yaml")),
    ("ragflow", include_str!("../../../presets/ragflow.yaml")),
    ("ragflow-openai", include_str!("../../../presets/ragflow-openai.yaml")),
    ("vectara", include_str!("../../../presets/vectara.yaml")),
];

/// Every built-in preset of a search engine: its name and its text.
pub static ENGINES: &[(&str, &str)] = &[
    ("azure-search", include_str!("../../../presets/azure-search.yaml")),
    ("azure-search-hybrid", include_str!("../../../presets/azure-search-hybrid.yaml")),
    ("azure-search-knn", include_str!("../../../presets/azure-search-knn.yaml")),
    ("chroma", include_str!("../../../presets/chroma.yaml")),
    ("deepresearchgym", include_str!("../../../presets/deepresearchgym.yaml")),
    ("elasticsearch", include_str!("../../../presets/elasticsearch.yaml")),
    ("elasticsearch-hybrid", include_str!("../../../presets/elasticsearch-hybrid.yaml")),
    ("elasticsearch-knn", include_str!("../../../presets/elasticsearch-knn.yaml")),
    ("groonga", include_str!("../../../presets/groonga.yaml")),
    ("meilisearch", include_str!("../../../presets/meilisearch.yaml")),
    ("milvus", include_str!("../../../presets/milvus.yaml")),
    ("milvus-bm25", include_str!("../../../presets/milvus-bm25.yaml")),
    ("opensearch", include_str!("../../../presets/opensearch.yaml")),
    ("opensearch-hybrid", include_str!("../../../presets/opensearch-hybrid.yaml")),
    ("opensearch-knn", include_str!("../../../presets/opensearch-knn.yaml")),
    ("pinecone", include_str!("../../../presets/pinecone.yaml")),
    ("pinecone-knn", include_str!("../../../presets/pinecone-knn.yaml")),
    ("postgrest", include_str!("../../../presets/postgrest.yaml")),
    ("postgrest-knn", include_str!("../../../presets/postgrest-knn.yaml")),
    ("qdrant", include_str!("../../../presets/qdrant.yaml")),
    ("turbopuffer", include_str!("../../../presets/turbopuffer.yaml")),
    ("turbopuffer-knn", include_str!("../../../presets/turbopuffer-knn.yaml")),
    ("typesense", include_str!("../../../presets/typesense.yaml")),
    ("vespa", include_str!("../../../presets/vespa.yaml")),
    ("weaviate", include_str!("../../../presets/weaviate.yaml")),
    ("weaviate-hybrid", include_str!("../../../presets/weaviate-hybrid.yaml")),
    ("weaviate-knn", include_str!("../../../presets/weaviate-knn.yaml")),
];

/// The text of the built-in preset of this name.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    ENGINES.iter().chain(SYSTEMS).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Whether this names a file rather than a built-in preset.
#[must_use]
pub fn is_path(name: &str) -> bool {
    let ending = std::path::Path::new(name).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("yaml") || ending.eq_ignore_ascii_case("yml"))
}

/// The names of the built-in presets of search engines, in alphabetical order.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|(name, _)| *name)
}

/// The names of the built-in presets of deployed systems, in alphabetical order.
pub fn answer_preset_names() -> impl Iterator<Item = &'static str> {
    SYSTEMS.iter().map(|(name, _)| *name)
}
