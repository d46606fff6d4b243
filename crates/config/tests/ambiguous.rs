//! What drbdadm calls ambiguous is named, and nothing else; the inner one counts.

use config::{ConfigFile, parse_text};

/// What is said of one option in each place; nothing where a text is empty.
#[derive(Clone, Copy)]
struct Said<'t> {
    common: &'t str,
    resource: &'t str,
    volume: &'t str,
    volume_of_host: &'t str,
    connection: &'t str,
    volume_of_connection: &'t str,
    mesh: Option<&'t str>,
}

const NOTHING: Said<'static> = Said {
    common: "",
    resource: "",
    volume: "",
    volume_of_host: "",
    connection: "",
    volume_of_connection: "",
    mesh: None,
};

fn read(said: Said<'_>) -> ConfigFile {
    let Said { common, resource, volume, volume_of_host, connection, volume_of_connection, .. } =
        said;
    let within = |text: &str| match text {
        "" => String::new(),
        text => format!("volume 0 {{ {text} }}"),
    };
    let mesh = said
        .mesh
        .map_or_else(String::new, |text| format!("connection-mesh {{ hosts a b; {text} }}"));
    let is_connected = said.mesh.is_none() || !connection.is_empty();
    let connection = match is_connected {
        true => format!(
            "connection {{ host a; host b; {connection} {} }}",
            within(volume_of_connection)
        ),
        false => String::new(),
    };
    let text = format!(
        "common {{ {common} }}
        resource r {{ {resource} volume 0 {{ device minor 1; disk /x; {volume} }}
        on a {{ node-id 0; address 10.0.0.1:1; {} }} on b {{ node-id 1; address 10.0.0.2:1; }}
        {mesh} {connection} }}",
        within(volume_of_host)
    );
    parse_text("r.res", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

const N3: &str = "net { ping-timeout 3; }";
const N4: &str = "net { ping-timeout 4; }";
const D3: &str = "disk { al-extents 301; }";
const D4: &str = "disk { al-extents 401; }";
const P3: &str = "disk { c-max-rate 3M; }";
const P4: &str = "disk { c-max-rate 4M; }";
const P5: &str = "disk { c-max-rate 5M; }";

/// Each was asked of drbdadm 9.22, by `-d up`: it fails for the first ones.
#[test]
fn the_overrides_that_drbdadm_refuses_are_named() {
    for said in [
        Said { common: D3, volume: D4, ..NOTHING },
        Said { resource: D3, volume: D4, ..NOTHING },
        Said { common: P3, volume: P4, ..NOTHING },
        Said { resource: P3, volume: P4, ..NOTHING },
        Said { resource: P3, connection: P4, ..NOTHING },
        Said { common: P3, connection: P4, ..NOTHING },
        Said { volume: P3, connection: P4, ..NOTHING },
        Said { volume_of_host: P3, connection: P4, ..NOTHING },
        Said { resource: P3, volume_of_host: P4, ..NOTHING },
        Said { common: P3, volume_of_host: P4, ..NOTHING },
        Said { volume: P3, volume_of_host: P4, ..NOTHING },
        Said { common: N3, mesh: Some(N4), ..NOTHING },
        Said { resource: N3, mesh: Some(N4), ..NOTHING },
    ] {
        let config = read(said);
        let [ambiguity] = &config.ambiguities[..] else { panic!("{:?}", config.ambiguities) };
        let text = ambiguity.to_string();
        assert!(text.contains("4") && text.contains("over an outer `"), "{text}");
        assert!(text.contains("(the other: r.res:"), "{text}");
        assert_eq!(config.warnings.iter().filter(|it| it.message.contains("ambiguous")).count(), 0);
    }
    for said in [
        Said { common: D3, resource: D4, ..NOTHING },
        Said { resource: D3, volume: D3, ..NOTHING },
        Said { resource: D3, volume_of_host: D4, ..NOTHING },
        Said { common: D3, volume_of_host: D4, ..NOTHING },
        Said { volume: D3, volume_of_host: D4, ..NOTHING },
        Said { common: P3, resource: P4, ..NOTHING },
        Said { resource: P3, connection: P3, ..NOTHING },
        Said { resource: P3, volume_of_connection: P4, ..NOTHING },
        Said { connection: P3, volume_of_connection: P4, ..NOTHING },
        Said { volume: P3, volume_of_connection: P4, ..NOTHING },
        Said { volume_of_host: P3, volume_of_connection: P4, ..NOTHING },
        Said { resource: P3, connection: P4, volume_of_connection: P5, ..NOTHING },
        Said { common: N3, resource: N4, ..NOTHING },
        Said { common: N3, connection: N4, ..NOTHING },
        Said { resource: N3, connection: N4, ..NOTHING },
        Said { mesh: Some(N3), ..NOTHING },
    ] {
        assert_eq!(read(said).ambiguities, []);
    }
}

/// drbdadm makes the peer twice.
#[test]
fn a_mesh_over_a_connection_is_named() {
    let config = read(Said { mesh: Some(""), connection: N4, ..NOTHING });
    let [ambiguity] = &config.ambiguities[..] else { panic!("{:?}", config.ambiguities) };
    assert!(ambiguity.message.contains("the mesh covers a and b"), "{ambiguity}");
}

#[test]
fn a_secret_is_named_and_not_shown() {
    let secret = |text: &str| format!("net {{ cram-hmac-alg sha256; shared-secret {text}; }}");
    let (outer, inner) = (secret("hushhush"), secret("lullaby"));
    let config = read(Said { resource: &outer, mesh: Some(&inner), ..NOTHING });
    let [ambiguity] = &config.ambiguities[..] else { panic!("{:?}", config.ambiguities) };
    let text = ambiguity.to_string();
    assert!(text.contains("shared-secret") && !text.contains("hush") && !text.contains("lull"));
}

#[test]
fn no_more_are_named_than_errors_are() {
    let volumes =
        |number: u16| format!("volume {number} {{ disk /d{number}; disk {{ al-extents 99; }} }}");
    let volumes: String = (0..50).map(volumes).collect();
    let text =
        format!("resource r {{ disk {{ al-extents 98; }} {volumes} on a {{ node-id 0; }} }}");
    assert_eq!(parse_text("r.res", &text).unwrap().ambiguities.len(), config::limits::ERRORS_MAX);
}
