//! The forms of a cluster in which the same test runs: its shards, its links and its I/O.
//!
//! `BASALT_TEST_VARIANT` names one of them for all tests of a run. With `drawn:WORD` each test
//! draws one from its own name and the word, so that a row of commits goes through all of them.

use std::fmt;
use std::thread;

use stdx::checksum::crc32c;
use stdx::random::Random;

const VARIABLE: &str = "BASALT_TEST_VARIANT";

/// Modules whose tests hold with several shards. Others count on what one shard does: they are
/// plain where a run asks for shards.
const WITH_SHARDS: &[&str] = &[
    "adjust",
    "disks",
    "faults",
    "followers",
    "holes",
    "initiator",
    "machine",
    "members",
    "nvme",
    "paths",
    "power",
    "protocols",
    "reads",
    "relay",
    "resize",
    "resync",
    "several",
    "unaligned",
    "vhost",
    "volume",
];
/// The same with TLS between the nodes.
const WITH_TLS: &[&str] = &["faults", "host_names", "paths", "relay", "resize", "resync", "volume"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// One shard, links in clear text, the I/O that the kernel offers.
    Plain,
    /// Two, one and three shards, so that nodes differ.
    Shards,
    /// The same shards, and TLS on the links.
    Tls,
    /// As plain, without `io_uring`.
    Poll,
}

impl Variant {
    const ALL: [Self; 4] = [Self::Plain, Self::Shards, Self::Tls, Self::Poll];

    /// For the test that calls this, from its own thread. It says how to run the test again.
    #[expect(clippy::print_stdout, reason = "shown where the test fails")]
    pub(crate) fn of_this_test() -> Self {
        let Ok(word) = std::env::var(VARIABLE) else { return Self::Plain };
        let thread = thread::current();
        // With one test thread all tests run in the main one, and nothing tells them apart.
        let test = thread.name().unwrap_or("main");
        let variant = Self::of(test, &word);
        println!(
            "variant {variant}; to repeat: {VARIABLE}={variant} \
             cargo test -p basalt --test cluster -- --exact {test}"
        );
        variant
    }

    fn of(test: &str, word: &str) -> Self {
        let fits: Vec<Self> = Self::ALL.into_iter().filter(|it| it.fits(test)).collect();
        if let Some(drawn_by) = word.strip_prefix("drawn:") {
            let seed = crc32c(format!("{test} {drawn_by}").as_bytes());
            return *Random::new(seed.into()).pick(&fits).unwrap();
        }
        let found = Self::ALL.into_iter().find(|variant| variant.to_string() == word);
        let found = found.unwrap_or_else(|| {
            panic!("{VARIABLE} is plain, shards, tls, poll or drawn:WORD, and not {word:?}")
        });
        if fits.contains(&found) { found } else { Self::Plain }
    }

    fn fits(self, test: &str) -> bool {
        let module = test.split("::").next().unwrap_or(test);
        match self {
            Self::Plain | Self::Poll => true,
            Self::Shards => WITH_SHARDS.contains(&module),
            Self::Tls => WITH_TLS.contains(&module),
        }
    }

    /// Of the nodes, in turn.
    pub(crate) fn shards(self) -> &'static [u8] {
        match self {
            Self::Plain | Self::Poll => &[1],
            Self::Shards | Self::Tls => &[2, 1, 3],
        }
    }

    pub(crate) fn has_tls(self) -> bool {
        self == Self::Tls
    }

    /// For the daemons, besides their own.
    pub(crate) fn environment(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Poll => vec![("BASALT_IO_BACKEND", "poll")],
            Self::Plain | Self::Shards | Self::Tls => Vec::new(),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Plain => "plain",
            Self::Shards => "shards",
            Self::Tls => "tls",
            Self::Poll => "poll",
        })
    }
}

#[test]
fn each_test_goes_through_its_variants_in_a_row_of_commits() {
    for (test, fits) in [
        ("volume::writes_are_on_all", &Variant::ALL[..]),
        ("nvme::who_asks", &[Variant::Plain, Variant::Shards, Variant::Poll]),
        ("host_names::a_domain", &[Variant::Plain, Variant::Tls, Variant::Poll]),
        ("crowd::one_more", &[Variant::Plain, Variant::Poll]),
    ] {
        let drawn: Vec<_> =
            (0..60).map(|commit| Variant::of(test, &format!("drawn:{commit:040x}"))).collect();
        for variant in Variant::ALL {
            let count = drawn.iter().filter(|it| **it == variant).count();
            let range = if fits.contains(&variant) { 5..45 } else { 0..1 };
            assert!(range.contains(&count), "{test}: {count} times {variant} in 60 commits");
        }
        assert_eq!(drawn[7], Variant::of(test, &format!("drawn:{:040x}", 7)), "it can be repeated");
    }
}

#[test]
fn a_variant_is_named_by_its_word_and_taken_where_it_fits() {
    for variant in Variant::ALL {
        assert_eq!(Variant::of("volume::any", &variant.to_string()), variant);
    }
    assert_eq!(Variant::of("crowd::any", "tls"), Variant::Plain);
    assert_eq!(Variant::of("crowd::any", "poll"), Variant::Poll);
}
