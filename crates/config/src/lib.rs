//! The `.res` grammar.
