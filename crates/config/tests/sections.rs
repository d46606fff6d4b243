//! Every section of options in every place: what drbdadm refuses or ignores, nobody takes here by
//! accident. The table is `sections.txt`.

use std::collections::BTreeMap;

use config::parse_text;
use config::side::Side;

const TABLE: &str = include_str!("sections.txt");

/// Of all places and sections, by name.
fn texts(kind: &str) -> BTreeMap<&'static str, &'static str> {
    let lines = TABLE.lines().filter_map(|line| line.strip_prefix(kind));
    lines.map(|line| line.split_once(' ').expect("a name and a text")).collect()
}

/// What becomes of the only option of this section.
fn answer(text: &str, section: &str) -> &'static str {
    let Ok(config) = parse_text("r.res", text) else { return "refused" };
    let name = section.split(' ').nth(2).expect("`SECTION { NAME VALUE; }`");
    let resource = &config.resources[0];
    let side = Side::of(resource, &resource.hosts[0].name).expect("its first host");
    let peer = &side.peers[0];
    let mut options = side.resource_options();
    options.extend(side.net_options(peer));
    options.extend(side.peer_device_options(peer, 0));
    options.extend(side.disk_options(&side.host.volumes[0]));
    let is_given = |name: &str| {
        let others = [&resource.startup, &resource.handlers];
        options.iter().any(|(known, _)| *known == name)
            || others.iter().any(|set| set.given(name).is_some())
    };
    let is_warned_of = config.warnings.iter().any(|warning| warning.option == name);
    match (is_given(name), is_warned_of) {
        (true, _) => "in-effect",
        (false, true) => "warned",
        (false, false) => "ignored",
    }
}

#[test]
fn each_section_is_taken_where_its_row_says_so() {
    let (places, sections) = (texts("place "), texts("section "));
    let mut rows = 0;
    for row in TABLE.lines().filter_map(|line| line.strip_prefix("row ")) {
        let words: Vec<&str> = row.split(' ').collect();
        let [place, section, theirs, ours, reason @ ..] = &words[..] else { panic!("{row}") };
        let text = places[place].replace("SECTION", sections[section]).replace("HOST", "alpha");
        assert_eq!(answer(&text, sections[section]), *ours, "{row}\n{text}");
        let is_explained = *theirs != "refused" || *ours == "refused" || !reason.is_empty();
        assert!(is_explained || *ours == "warned", "{row}: why is it not refused here?");
        assert!(*theirs != "ignored" || *ours != "in-effect", "{row}: it would change what holds");
        rows += 1;
    }
    assert_eq!(rows, places.len() * sections.len(), "each section in each place");
}
