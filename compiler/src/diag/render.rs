//! Diagnostics as text: the one place that knows how they look.
