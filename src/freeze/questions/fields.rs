//! The names that the usual data sets and tools give to the fields of a question.

/// Names of one field, the one that counts first.
pub(in crate::freeze) type Names = &'static [&'static str];

/// The question's id.
pub(in crate::freeze) const ID: Names =
    &["id", "_id", "qid", "query_id", "question_id", "QuestionId", "test_case_id", "metadata.id", "__metadata:id"];

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
    "vars.prompt",
    "inputs.question",
    "inputs.query",
    "inputs.input",
];

/// Subgroups.
pub(in crate::freeze) const TAGS: Names = &["tags", "metadata.tags", "additional_metadata.tags", "__metadata:tags[]"];

/// One subgroup.
pub(in crate::freeze) const CATEGORY: Names =
    &["category", "metadata.category", "additional_metadata.category", "__metadata:category", "synthesizer_name"];

/// The source or session that a question was sampled in.
pub(in crate::freeze) const CLUSTER: Names = &[
    "cluster",
    "topic",
    "source_doc",
    "source_file",
    "session",
    "session_id",
    "metadata.cluster",
    "metadata.topic",
    "metadata.session",
    "__metadata:cluster",
];

/// How much a question should count. No estimator here takes weights, so that one that is not 1 is refused.
pub(in crate::freeze) const WEIGHT: Names = &["weight", "weights", "metadata.weight", "__metadata:weight"];

/// How often a question was asked, as logs have it.
pub(in crate::freeze) const COUNT: Names = &["count", "frequency"];

/// Accepted answers. All of these fields count together.
pub(in crate::freeze) const GOLD: Names = &[
    "answer",
    "answers",
    "Answer",
    "gold",
    "gold_answer",
    "expected",
    "expected_answer",
    "expected_output",
    "expectedAnswer",
    "reference",
    "reference_answer",
    "correct_answer",
    "ground_truth",
    "ground_truths",
    "aliases",
    "metadata.answer",
    "outputs.answer",
    "vars.answer",
    "vars.expected",
    "vars.reference",
];

/// Where one of these stands, `answer` is what some system said, and no gold.
pub(in crate::freeze) const TRUTH: Names = &["ground_truth", "ground_truths"];
