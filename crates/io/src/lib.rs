//! The only crate with `unsafe`.
