"""Ranks documents for questions by two other programs: tantivy itself, and bm25s by Lucene's formula with exact lengths.

Reads JSON lines: {"id", "terms"} for documents, then {"asked"} for questions; terms are apart by spaces. Writes a line a
question: {"tantivy": [[id, score], ...], "lucene": [[id, score], ...]}, best first, 60 of each at most.
"""

import json
import sys

import bm25s
import numpy
import tantivy

SHOWN = 60

documents, questions = [], []
for line in sys.stdin:
    row = json.loads(line)
    (documents if "id" in row else questions).append(row)

builder = tantivy.SchemaBuilder()
builder.add_text_field("id", stored=True, tokenizer_name="raw")
builder.add_text_field("body", stored=False, tokenizer_name="whitespace", index_option="freq")
schema = builder.build()
index = tantivy.Index(schema)
writer = index.writer(heap_size=64_000_000, num_threads=1)
for document in documents:
    writer.add_document(tantivy.Document(id=document["id"], body=document["terms"]))
writer.commit()
index.reload()
searcher = index.searcher()

retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
retriever.index([document["terms"].split() for document in documents], show_progress=False)

for question in questions:
    terms = question["asked"].split()
    clauses = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", term, index_option="freq")) for term in terms]
    hits = searcher.search(tantivy.Query.boolean_query(clauses), SHOWN).hits if clauses else []
    engine = [[searcher.doc(address)["id"][0], score] for score, address in hits]
    known = [term for term in terms if term in retriever.vocab_dict]
    scores = retriever.get_scores(known) if known else numpy.zeros(len(documents))
    order = numpy.argsort(-scores, kind="stable")[:SHOWN]
    lucene = [[documents[at]["id"], float(scores[at])] for at in order if scores[at] > 0]
    print(json.dumps({"tantivy": engine, "lucene": lucene}))
