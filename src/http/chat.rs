//! The OpenAI-compatible chat wire: request body out, what counts as what back in. Shared by generators and judges.
