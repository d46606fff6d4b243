//! All that leads the cluster step by step, in one program: forty would be linked at each change of
//! the core. The seeds have a program of their own, tests/seeds.rs.

mod adopt;
mod attach;
mod congestion;
mod disks;
mod fencing;
mod followers;
mod forged;
mod forks;
mod gate;
mod give_way;
mod given_up;
mod holes;
mod late;
mod leaves;
mod left_lines;
mod losses;
mod lost_elsewhere;
mod lost_votes;
mod made_anew;
mod members;
mod news;
mod protocols;
mod reads;
mod registers;
mod reopen;
mod resize;
mod rough;
mod scenarios;
mod shards;
mod slots;
mod superseded;
mod suspends;
mod unforced;
mod verify;
mod volumes;
mod votes;
mod without_a_primary;

/// A file that no `mod` line names would never run.
#[test]
fn every_file_of_this_folder_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).expect("the folder of the tests") {
        let name = entry.expect("an entry").file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".rs")) else { continue };
        let line = format!("\nmod {name};\n");
        let is_named = include_str!("main.rs").contains(&line);
        assert!(is_named || ["main", "seeds"].contains(&name), "{name}.rs stands in no `mod` line");
    }
}
