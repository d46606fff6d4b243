//! Definitions: a volume that has a name, parts and properties, and is on no node yet; the groups
//! that say how it will be placed; and the properties of everything else.

use std::borrow::Cow;

use api::agent::PARTS_MAX;
use api::cluster::Begun;
use uuid::Uuid;

use crate::changes::{BLOCK_BYTES, check_idle, check_name, volume_named};
use crate::core::{Changed, State};
use crate::life::grow;
use crate::model::bag::{Bag, Owner};
use crate::model::group::{DEFAULT_GROUP_ID, Filter, Group, Template};
use crate::model::properties::{Edit, Properties};
use crate::model::{Change, Desired, Key, Object, Part, Phase, Volume};
use crate::refusal::{Refusal, SIZE_MAX, SIZE_MIN};

const GROUPS_MAX: usize = 10_000;
const BAGS_MAX: usize = 100_000;
const TEXT_BYTES_MAX: usize = 1024;
/// Of a filter, in each list.
const WORDS_MAX: usize = 256;
const WORD_BYTES_MAX: usize = 256;
/// Numbers of parts and minors are below these.
const NUMBER_MAX: u16 = 65_534;
const MINOR_MAX: u32 = (1 << 20) - 1;

#[derive(Clone, Debug, Default)]
pub(crate) struct NewDefinition {
    /// Absent: made from the external name.
    pub(crate) name: Option<String>,
    pub(crate) external_name: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) properties: Edit,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct NewPart {
    /// Absent: the lowest that is free.
    pub(crate) number: Option<u16>,
    pub(crate) size_bytes: u64,
    /// Absent: the lowest that is free.
    pub(crate) minor: Option<u32>,
    pub(crate) properties: Edit,
}

/// A new definition, without parts.
pub(crate) fn new_definition(state: &State, wish: &NewDefinition) -> Changed<Volume> {
    let desired = &state.desired;
    let external_name = wish.external_name.clone().filter(|name| !name.is_empty());
    if let Some(name) = &external_name {
        check_text("external name", name)?;
        let has_name = |it: &Volume| it.external_name.as_ref() == Some(name);
        if desired.volumes.values().any(has_name) {
            return Err(Refusal::ExternalNameExists { name: name.clone() });
        }
    }
    let name = match &wish.name {
        Some(name) => name.clone(),
        None => free_name(desired, external_name.as_deref().unwrap_or_default()),
    };
    check_name("volume", &name, 2..=48)?;
    if desired.volume_named(&name).is_some() {
        return Err(Refusal::VolumeExists { name });
    }
    let volume = Volume {
        id: Uuid::new_v4(),
        name,
        external_name,
        group: wish.group.as_deref().map(|name| group_id(desired, name)).transpose()?,
        properties: edited(&Properties::default(), &wish.properties)?,
        parts: Vec::new(),
        phase: Phase::Defined,
        placements: Vec::new(),
        attached: None,
        growth: None,
        operation: None,
        defined: true,
    };
    Ok((vec![put_volume(volume.clone())], volume))
}

/// The external name, with other characters in place of those that no name has; a name at random
/// where that is none or taken.
fn free_name(desired: &Desired, external: &str) -> String {
    if let Ok(id) = Uuid::try_parse(external) {
        return format!("LS_{}", id.to_string().to_ascii_uppercase());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let name: String = external.chars().map(plain).take(48).collect();
    let is_free = check_name("volume", &name, 2..=48).is_ok();
    if is_free && !name.starts_with('-') && desired.volume_named(&name).is_none() {
        return name;
    }
    format!("LS_{}", Uuid::new_v4().to_string().to_ascii_uppercase())
}

/// Properties, and the group if one is named.
pub(crate) fn edit_definition(
    state: &State,
    name: &str,
    edit: &Edit,
    group: Option<&str>,
) -> Changed<Volume> {
    let volume = volume_named(&state.desired, name)?;
    let group = match group {
        Some(group) => Some(group_id(&state.desired, group)?),
        None => volume.group,
    };
    let properties = edited(&volume.properties, edit)?;
    let volume = Volume { group, properties, ..volume.clone() };
    Ok((vec![put_volume(volume.clone())], volume))
}

pub(crate) fn new_part(state: &State, name: &str, wish: &NewPart) -> Changed<(Volume, Part)> {
    let volume = volume_named(&state.desired, name)?;
    check_idle(volume)?;
    if volume.phase != Phase::Defined {
        return add_part_in_use(volume);
    }
    let (volume, part) = with_part(&state.desired, volume.clone(), wish)?;
    Ok((vec![put_volume(volume.clone())], (volume, part)))
}

/// A further part of a volume that has replicas.
fn add_part_in_use(volume: &Volume) -> Changed<(Volume, Part)> {
    check_idle(volume)?;
    Err(Refusal::NotBuilt { what: "one more volume for a resource that is on nodes" })
}

/// A definition with one more part.
pub(crate) fn with_part(
    desired: &Desired,
    mut volume: Volume,
    wish: &NewPart,
) -> Result<(Volume, Part), Refusal> {
    if !(SIZE_MIN..=SIZE_MAX).contains(&wish.size_bytes) {
        return Err(Refusal::BadSize { bytes: wish.size_bytes });
    }
    if volume.parts.len() >= PARTS_MAX {
        return Err(Refusal::TooManyParts { name: volume.name });
    }
    let free = || (0..).find(|number| volume.part(*number).is_none());
    let number = wish.number.or_else(free).unwrap_or_default();
    if number > NUMBER_MAX {
        let value = number.to_string();
        return Err(Refusal::BadValue { what: "number of a volume", value });
    }
    if volume.part(number).is_some() {
        return Err(Refusal::PartExists { name: volume.name, number });
    }
    let own: Vec<u32> = volume.parts.iter().map(|part| part.minor).collect();
    let minor = match wish.minor {
        Some(minor) if minor > MINOR_MAX => {
            return Err(Refusal::BadValue { what: "minor", value: minor.to_string() });
        }
        Some(minor) => {
            let mut others = desired.volumes.values().flat_map(|it| &it.parts);
            if own.contains(&minor) || others.any(|part| part.minor == minor) {
                return Err(Refusal::MinorTaken { minor });
            }
            minor
        }
        None => {
            let mut free = desired.free_minors().filter(|minor| !own.contains(minor));
            free.next().ok_or(Refusal::NoMinor)?
        }
    };
    let properties = edited(&Properties::default(), &wish.properties)?;
    let size_bytes = wish.size_bytes.next_multiple_of(BLOCK_BYTES);
    let part = Part { number, size_bytes, minor, properties };
    volume.parts.push(part.clone());
    volume.parts.sort_by_key(|part| part.number);
    Ok((volume, part))
}

pub(crate) fn edit_part(state: &State, name: &str, number: u16, edit: &Edit) -> Changed<Volume> {
    let mut volume = volume_named(&state.desired, name)?.clone();
    let part = volume.parts.iter_mut().find(|part| part.number == number);
    let Some(part) = part else { return Err(Refusal::NoPart { name: volume.name, number }) };
    part.properties = edited(&part.properties, edit)?;
    Ok((vec![put_volume(volume.clone())], volume))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resized {
    /// It had the size already.
    Same,
    Done,
    Begun(Begun),
}

/// The size of a part, on nodes or not. One that is on nodes never becomes smaller.
pub(crate) fn resize_part(
    state: &State,
    name: &str,
    (number, size_bytes): (u16, u64),
    now_ms: u64,
) -> Changed<Resized> {
    let mut volume = volume_named(&state.desired, name)?.clone();
    if !(SIZE_MIN..=SIZE_MAX).contains(&size_bytes) {
        return Err(Refusal::BadSize { bytes: size_bytes });
    }
    check_idle(&volume)?;
    let rounded = size_bytes.next_multiple_of(BLOCK_BYTES);
    let phase = volume.phase;
    let part = volume.parts.iter_mut().find(|part| part.number == number);
    let Some(part) = part else { return Err(Refusal::NoPart { name: volume.name, number }) };
    if part.size_bytes == rounded {
        return Ok((Vec::new(), Resized::Same));
    }
    if phase != Phase::Defined {
        let (changes, begun) = grow(state, name, (number, size_bytes), now_ms)?;
        return Ok((changes, Resized::Begun(begun)));
    }
    part.size_bytes = rounded;
    Ok((vec![put_volume(volume)], Resized::Done))
}

/// A part of a volume that is on no node. `None`: there is none of this number.
pub(crate) fn drop_part(state: &State, name: &str, number: u16) -> Changed<Option<Volume>> {
    let mut volume = volume_named(&state.desired, name)?.clone();
    if volume.part(number).is_none() {
        return Ok((Vec::new(), None));
    }
    check_idle(&volume)?;
    if volume.phase != Phase::Defined {
        return Err(Refusal::NotBuilt { what: "one volume of a resource on nodes is taken away" });
    }
    volume.parts.retain(|part| part.number != number);
    Ok((vec![put_volume(volume.clone())], Some(volume)))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GroupWish {
    pub(crate) description: Option<String>,
    pub(crate) properties: Edit,
    pub(crate) filter: Filter,
    pub(crate) peer_slots: Option<u32>,
}

pub(crate) fn new_group(state: &State, name: &str, wish: &GroupWish) -> Changed<Group> {
    check_name("resource group", name, 2..=48)?;
    if state.desired.group_named(name).is_some() {
        return Err(Refusal::GroupExists { name: name.to_owned() });
    }
    if state.desired.groups.len() >= GROUPS_MAX {
        return Err(Refusal::TooManyObjects { what: "resource groups", most: GROUPS_MAX });
    }
    changed_group(Group::new(Uuid::new_v4(), name), wish)
}

pub(crate) fn edit_group(state: &State, name: &str, wish: &GroupWish) -> Changed<Group> {
    changed_group(group_named(&state.desired, name)?.into_owned(), wish)
}

fn changed_group(mut group: Group, wish: &GroupWish) -> Changed<Group> {
    if let Some(text) = &wish.description {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Refusal::BadValue { what: "description", value: text.clone() });
        }
        group.description.clone_from(text);
    }
    check_filter(&wish.filter)?;
    group.properties = edited(&group.properties, &wish.properties)?;
    group.filter = wish.filter.clone().over(&group.filter);
    group.peer_slots = wish.peer_slots.or(group.peer_slots);
    Ok((vec![put_group(group.clone())], group))
}

/// `None`: there is none of this name.
pub(crate) fn drop_group(state: &State, name: &str) -> Changed<Option<Group>> {
    let Some(group) = state.desired.group_named(name).map(Cow::into_owned) else {
        return Ok((Vec::new(), None));
    };
    if group.id == DEFAULT_GROUP_ID {
        return Err(Refusal::BadValue { what: "group that may be deleted", value: group.name });
    }
    let members = state.desired.volumes.values().filter(|it| it.group == Some(group.id));
    let count = members.count();
    if count > 0 {
        return Err(Refusal::GroupHasVolumes { name: group.name, count });
    }
    Ok((vec![Change::Drop(Key::Group(group.id))], Some(group)))
}

/// A part that the group's volumes will have; without a number, the lowest that is free.
pub(crate) fn new_template(
    state: &State,
    name: &str,
    (number, edit, flags): (Option<u16>, &Edit, Vec<String>),
) -> Changed<(Group, u16)> {
    let mut group = group_named(&state.desired, name)?.into_owned();
    let has = |number: u16| group.templates.iter().any(|it| it.number == number);
    let number = number.or_else(|| (0..).find(|number| !has(*number))).unwrap_or_default();
    if has(number) {
        return Err(Refusal::TemplateExists { group: group.name, number });
    }
    if group.templates.len() >= PARTS_MAX || number > NUMBER_MAX {
        return Err(Refusal::TooManyParts { name: group.name });
    }
    check_words(&flags)?;
    let properties = edited(&Properties::default(), edit)?;
    group.templates.push(Template { number, properties, flags });
    group.templates.sort_by_key(|it| it.number);
    Ok((vec![put_group(group.clone())], (group, number)))
}

pub(crate) fn edit_template(state: &State, name: &str, number: u16, edit: &Edit) -> Changed<Group> {
    let mut group = group_named(&state.desired, name)?.into_owned();
    let Some(template) = group.templates.iter_mut().find(|it| it.number == number) else {
        return Err(Refusal::NoTemplate { group: group.name, number });
    };
    template.properties = edited(&template.properties, edit)?;
    Ok((vec![put_group(group.clone())], group))
}

/// `None`: there is none of this number.
pub(crate) fn drop_template(state: &State, name: &str, number: u16) -> Changed<Option<Group>> {
    let mut group = group_named(&state.desired, name)?.into_owned();
    let count = group.templates.len();
    group.templates.retain(|it| it.number != number);
    if group.templates.len() == count {
        return Ok((Vec::new(), None));
    }
    Ok((vec![put_group(group.clone())], Some(group)))
}

/// Properties of what is no object of its own. What has none any more is not kept, but for the
/// stores of tools, which are there as long as they are not deleted.
pub(crate) fn edit_bag(state: &State, owner: Owner, name: &str, edit: &Edit) -> Changed<()> {
    let old = state.desired.bags.get(&owner);
    if old.is_none() && state.desired.bags.len() >= BAGS_MAX {
        return Err(Refusal::TooManyObjects { what: "sets of properties", most: BAGS_MAX });
    }
    let properties = edited(&state.desired.bag(&owner), edit)?;
    let name = old.map_or_else(|| name.to_owned(), |bag| bag.name.clone());
    let is_kept = matches!(owner, Owner::KeyValue(_) | Owner::Interface(..));
    if properties.all().is_empty() && !is_kept {
        return Ok((vec![Change::Drop(Key::Bag(owner))], ()));
    }
    Ok((vec![Change::Put(Object::Bag(Bag { owner, name, properties }))], ()))
}

/// Whether it was there.
pub(crate) fn drop_bag(state: &State, owner: Owner) -> Changed<bool> {
    let is_there = state.desired.bags.contains_key(&owner);
    let changes = if is_there { vec![Change::Drop(Key::Bag(owner))] } else { Vec::new() };
    Ok((changes, is_there))
}

pub(crate) fn group_named<'a>(desired: &'a Desired, name: &str) -> Result<Cow<'a, Group>, Refusal> {
    desired.group_named(name).ok_or_else(|| Refusal::NoGroup { name: name.to_owned() })
}

/// As volumes name it.
fn group_id(desired: &Desired, name: &str) -> Result<Uuid, Refusal> {
    group_named(desired, name).map(|group| group.id)
}

/// A text of somebody else: one line of a bounded length.
pub(crate) fn check_text(what: &'static str, text: &str) -> Result<(), Refusal> {
    if text.is_empty() || text.len() > 255 || text.contains(char::is_control) {
        return Err(Refusal::BadValue { what, value: text.chars().take(64).collect() });
    }
    Ok(())
}

fn check_words(words: &[String]) -> Result<(), Refusal> {
    if words.len() > WORDS_MAX {
        return Err(Refusal::TooManyObjects { what: "words in a list", most: WORDS_MAX });
    }
    let is_long = |word: &&String| word.len() > WORD_BYTES_MAX || word.contains(char::is_control);
    match words.iter().find(is_long) {
        Some(word) => {
            let value = word.chars().take(64).collect();
            Err(Refusal::BadValue { what: "word of a list", value })
        }
        None => Ok(()),
    }
}

pub(crate) fn check_filter(filter: &Filter) -> Result<(), Refusal> {
    let lists = [
        &filter.node_name_list,
        &filter.storage_pool_list,
        &filter.storage_pool_diskless_list,
        &filter.not_place_with_rsc,
        &filter.replicas_on_same,
        &filter.replicas_on_different,
        &filter.layer_stack,
        &filter.provider_list,
    ];
    for list in lists.into_iter().flatten() {
        check_words(list)?;
    }
    let spread = filter.x_replicas_on_different_map.iter().flatten();
    let mut words: Vec<String> = spread.map(|(key, _)| key.clone()).collect();
    words.extend(filter.not_place_with_rsc_regex.clone());
    words.extend(filter.diskless_type.clone());
    check_words(&words)
}

fn edited(old: &Properties, edit: &Edit) -> Result<Properties, Refusal> {
    old.edited(edit).map_err(|reason| Refusal::BadProperties { reason })
}

fn put_volume(volume: Volume) -> Change {
    Change::Put(Object::Volume(volume))
}

fn put_group(group: Group) -> Change {
    Change::Put(Object::Group(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_comes_from_the_external_one_where_that_is_a_name() {
        let mut desired = Desired::default();
        for (external, name) in [
            ("one-db", "one-db"),
            ("a b/c", "a_b_c"),
            ("0b2f7b3e-9d9c-4c58-8a6f-0123456789ab", "LS_0B2F7B3E-9D9C-4C58-8A6F-0123456789AB"),
        ] {
            assert_eq!(free_name(&desired, external), name);
        }
        for external in ["", "a", "-x", "all"] {
            assert!(free_name(&desired, external).starts_with("LS_"), "{external}");
        }
        let taken = crate::model::samples::volume("One-DB", 1 << 20);
        desired.apply(put_volume(taken));
        assert!(free_name(&desired, "one-db").starts_with("LS_"));
    }

    #[test]
    fn parts_take_the_lowest_free_numbers_and_minors_up_to_a_bound() {
        let mut desired = Desired::default();
        desired.apply(put_volume(crate::model::samples::volume("other", 1 << 20)));
        let wish = NewPart { size_bytes: (1 << 20) + 1, ..NewPart::default() };
        let mut volume = Volume { parts: Vec::new(), ..crate::model::samples::volume("db", 1) };
        let one = NewPart { number: Some(1), minor: Some(1001), ..wish.clone() };
        volume = with_part(&desired, volume, &one).unwrap().0;
        let (volume, part) = with_part(&desired, volume, &wish).unwrap();
        assert_eq!((part.number, part.minor, part.size_bytes), (0, 1002, (1 << 20) + 4096));
        let refused = |wish: &NewPart| with_part(&desired, volume.clone(), wish).unwrap_err();
        assert_eq!(refused(&one), Refusal::PartExists { name: "db".to_owned(), number: 1 });
        let taken = NewPart { minor: Some(1000), ..wish.clone() };
        assert_eq!(refused(&taken), Refusal::MinorTaken { minor: 1000 });
        let mut many = volume.clone();
        for _ in 2..PARTS_MAX {
            many = with_part(&desired, many, &wish).unwrap().0;
        }
        let told = with_part(&desired, many, &wish).unwrap_err();
        assert_eq!(told, Refusal::TooManyParts { name: "db".to_owned() });
    }
}
