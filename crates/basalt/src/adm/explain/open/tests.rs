//! Each sentence about clients, for each way they come.

use api::status::DeviceStatus;

use super::*;
use crate::adm::explain::rows::{self, Row};

fn opened_by(holder: Option<Holder>) -> Sentence {
    let device = DeviceStatus { holders: holder.into_iter().collect(), ..DeviceStatus::default() };
    openers(&ResourceStatus { devices: vec![device], ..ResourceStatus::default() }).remove(0)
}

#[test]
fn rows_of_clients_are_those_of_the_page() {
    let of = |address: Option<&str>, pid, command: Option<&str>, requests| Holder {
        address: address.map(str::to_owned),
        pid,
        command: command.map(str::to_owned),
        requests,
    };
    let holders = [
        ("nobody has it open", None),
        ("over TCP, no request", Some(of(Some("10.0.0.9:5000"), None, None, 0))),
        ("over a unix socket, one request", Some(of(None, Some(7), Some("qemu-kvm"), 1))),
        ("over a unix socket, the process ended", Some(of(None, Some(7), None, 2))),
        ("nothing is known of the client", Some(of(None, None, None, 2))),
    ];
    let rows = holders.into_iter().map(|(situation, holder)| {
        let sentence = opened_by(holder);
        let variant = rows::variant_of(&sentence);
        Row { variant, situation: situation.to_owned(), sentence: sentence.to_string() }
    });
    rows::check(("explain-open.md", "What `explain` says of clients"), rows.collect());
}
