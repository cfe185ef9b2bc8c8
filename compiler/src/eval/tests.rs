//! Programs and what they give.
