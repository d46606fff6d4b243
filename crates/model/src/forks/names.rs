//! Names that say nothing but who has the same one: ids of values, sessions, branches, standings.
//!
//! They are given anew after each step, in the order in which each node gave them: states that
//! differ in nothing but how many names were given before are one. And of lines that nobody is on
//! any more nothing is kept.

use super::state::{Branch, IDS_OF_NODE, Message, Standing, State, Value, small};

impl State {
    pub(super) fn forget_names(&mut self) {
        self.forget_lines();
        let mut used = 0u128;
        self.each_id(&mut |id| used |= 1 << *id);
        self.each_id(&mut |id| *id = rank_of(used, *id));
        let known = (0..128).filter(|&id| used & self.chosen & 1 << id != 0);
        self.chosen = known.fold(0, |set, id| set | 1 << rank_of(used, id));
        for (n, node) in self.nodes.iter_mut().enumerate() {
            node.made = count(used, small(n) * IDS_OF_NODE, (small(n) + 1) * IDS_OF_NODE);
        }
        for n in 0..self.nodes.len() {
            let mut used = 0u128;
            self.each_standing(n, &mut |id| used |= 1 << *id);
            self.each_standing(n, &mut |id| *id = count(used, 0, *id));
            self.nodes[n].standings = count(used, 0, 127);
        }
    }

    fn forget_lines(&mut self) {
        let nodes = &self.nodes;
        self.lines.retain(|(branch, _)| {
            nodes.iter().any(|node| {
                let lead = node.lead.iter();
                let led = lead.flat_map(|lead| {
                    let proposed = lead.proposed.iter().map(|(_, value)| value.branch);
                    proposed.chain([lead.value.branch])
                });
                let left = node.discard.iter().map(|discard| discard.value.branch);
                let mut known = led.chain(left).chain([node.branch, node.head.branch]);
                known.any(|it| it == *branch)
            })
        });
    }

    fn each_id(&mut self, visit: &mut impl FnMut(&mut u8)) {
        for node in &mut self.nodes {
            value_ids(&mut node.head, visit);
            visit(&mut node.branch.id);
            visit(&mut node.sealed);
            if let Some(lead) = &mut node.lead {
                visit(&mut lead.session);
                value_ids(&mut lead.value, visit);
                if let Some((_, value)) = &mut lead.proposed {
                    value_ids(value, visit);
                }
            }
            if let Some(discard) = &mut node.discard {
                value_ids(&mut discard.value, visit);
            }
            for talk in node.talks.iter_mut().flatten() {
                for Standing { head, against, .. } in talk.own.iter_mut().chain(&mut talk.other) {
                    visit(head);
                    visit(against);
                }
            }
        }
        for message in self.mail.iter_mut().flatten().flatten() {
            if let Message::Standing(Standing { head, against, .. }) = message {
                visit(head);
                visit(against);
            }
        }
        for (Branch { id, .. }, line) in &mut self.lines {
            visit(id);
            value_ids(&mut line.head, visit);
        }
    }

    /// All that names a standing of `n`.
    fn each_standing(&mut self, n: usize, visit: &mut impl FnMut(&mut u8)) {
        for (m, node) in self.nodes.iter_mut().enumerate() {
            for (of, talk) in node.talks.iter_mut().enumerate() {
                let Some(talk) = talk else { continue };
                if m == n {
                    talk.own.iter_mut().for_each(|own| visit(&mut own.id));
                    talk.asked.iter_mut().for_each(&mut *visit);
                } else if of == n {
                    talk.other.iter_mut().for_each(|other| visit(&mut other.id));
                }
            }
        }
        for (from, mail) in self.mail.iter_mut().enumerate() {
            for (to, mail) in mail.iter_mut().enumerate() {
                for message in mail {
                    match message {
                        Message::Standing(standing) if from == n => visit(&mut standing.id),
                        Message::GiveWay { standing, .. } if from == n => visit(standing),
                        Message::GiveWay { against, .. } if to == n => visit(against),
                        Message::Answer { standing, .. } if to == n => visit(standing),
                        Message::Standing(_) | Message::GiveWay { .. } | Message::Answer { .. } => {
                        }
                    }
                }
            }
        }
    }
}

fn value_ids(value: &mut Value, visit: &mut impl FnMut(&mut u8)) {
    for place in value.ancestors.iter_mut().flatten() {
        visit(&mut place.branch.id);
        visit(&mut place.id);
    }
    visit(&mut value.branch.id);
    visit(&mut value.id);
    visit(&mut value.session);
}

/// How many are used above `after`, up to `last`.
fn count(used: u128, after: u8, last: u8) -> u8 {
    let set = (u32::from(after) + 1..=u32::from(last)).filter(|&id| used & 1 << id != 0);
    small(set.count())
}

/// Its place among those that the same node gave; 0 is of none.
fn rank_of(used: u128, id: u8) -> u8 {
    let Some(last) = id.checked_sub(1) else { return 0 };
    let after = last / IDS_OF_NODE * IDS_OF_NODE;
    after + count(used, after, id)
}
