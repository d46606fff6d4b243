//! Files of configuration as people write them, read and written; one program, linked once.

mod ambiguous;
mod clusters;
mod effective;
mod errors;
mod examples;
mod includes;
mod many;
mod option_table;
mod roundtrip;
mod sections;
mod steps;
