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

/// A file that no `mod` line names would never run.
#[test]
fn every_file_of_this_folder_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).expect("the folder of the tests") {
        let name = entry.expect("an entry").file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".rs")) else { continue };
        let line = format!("\nmod {name};\n");
        let is_named = include_str!("main.rs").contains(&line);
        assert!(is_named || name == "main", "{name}.rs stands in no `mod` line");
    }
}
