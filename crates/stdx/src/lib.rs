//! Domain-free building blocks.
