//! The names that the usual data sets and tools give to the fields of a question.

/// Names of one field, the one that counts first.
pub(in crate::freeze) type Names = &'static [&'static str];

/// The question's id.
pub(in crate::freeze) const ID: Names = &["id", "_id", "qid", "query_id", "question_id", "QuestionId", "test_case_id"];

/// The question's text.
pub(in crate::freeze) const TEXT: Names = &[
    "question",
    "query",
    "text",
    "input",
    "user_input",
    "prompt",
    "Question",
    "vars.question",
    "vars.query",
    "vars.input",
];

/// Subgroups.
pub(in crate::freeze) const TAGS: Names = &["tags", "metadata.tags"];

/// One subgroup.
pub(in crate::freeze) const CATEGORY: Names = &["category", "metadata.category"];

/// The source or session that a question was sampled in.
pub(in crate::freeze) const CLUSTER: Names =
    &["cluster", "topic", "source_doc", "session", "metadata.cluster", "metadata.topic", "metadata.session"];

/// Accepted answers. All of these fields count together.
pub(in crate::freeze) const GOLD: Names = &[
    "answer",
    "answers",
    "Answer",
    "gold",
    "expected",
    "expected_output",
    "expectedAnswer",
    "reference",
    "ground_truth",
    "aliases",
];
