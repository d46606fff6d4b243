//! Every rule is needed: without it the search finds how a promise breaks. With all of them the
//! whole space is searched in vain.

use model::register::{Register, Rule, Size};
use model::{data, forks, search};

#[test]
fn register_keeps_its_promises_in_every_state() {
    for size in Size::SMALL {
        let finding = search(Register { size, without: None });
        assert!(finding.is_good(), "{}: {finding:#?}", size.name);
    }
}

#[test]
fn each_rule_of_the_register_is_needed() {
    for rule in Rule::ALL {
        let finding = search(Register { size: rule.size(), without: Some(rule) });
        assert!(finding.broken.is_some(), "nothing breaks without {rule:?}: {finding:?}");
    }
}

#[test]
fn sessions_keep_their_promises_in_every_state() {
    for size in data::Size::SMALL {
        let finding = search(data::Data { size, without: None });
        assert!(finding.broken.is_none(), "{}: {finding:#?}", size.name);
    }
}

#[test]
fn each_rule_of_a_session_is_needed() {
    for rule in data::Rule::ALL {
        let finding = search(data::Data { size: rule.size(), without: Some(rule) });
        assert!(finding.broken.is_some(), "nothing breaks without {rule:?}: {finding:?}");
    }
}

#[test]
fn forks_keep_their_promises_in_every_state() {
    for size in forks::Size::SMALL {
        let finding = search(forks::Forks { size, without: None });
        assert!(finding.is_good(), "{}: {finding:#?}", size.name);
    }
}

#[test]
fn each_rule_of_forks_is_needed() {
    for rule in forks::Rule::ALL {
        let finding = search(forks::Forks { size: rule.size(), without: Some(rule) });
        assert!(finding.broken.is_some(), "nothing breaks without {rule:?}: {finding:?}");
    }
}
