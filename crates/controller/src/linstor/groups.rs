//! Resource groups and their volume groups: how volumes are placed, and the parts that they get.

use std::sync::Arc;

use axum::extract::State as Given;
use axum::response::Response;

use crate::Controller;
use crate::define::{
    GroupWish, drop_group, drop_template, edit_group, edit_template, group_named, new_group,
    new_template,
};
use crate::linstor::answer::{Answer, Done, Subject, shown};
use crate::linstor::codes::{Thing, Verb};
use crate::linstor::notes::without_effect;
use crate::linstor::reading::{Asked, Fields};
use crate::linstor::selected::{has_properties, is_named, page};
use crate::linstor::shapes;
use crate::linstor::waiting::Work;
use crate::model::properties::Edit;
use crate::refusal::Refusal;

type Shared = Given<Arc<Controller>>;

pub(crate) async fn list(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let default = state.desired.group(None).into_owned();
        let others = state.desired.groups.values().filter(|it| it.id != default.id).cloned();
        let mut groups: Vec<_> = others.chain([default.clone()]).collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        let groups = groups.iter().filter(|group| {
            is_named(&asked, "resource_groups", &group.name)
                && has_properties(&asked, &group.properties)
        });
        page(&asked, groups.map(shapes::group).collect())
    });
    shown(Thing::Group, Ok(told))
}

pub(crate) async fn show(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller
        .core
        .look(|state, _| Ok(shapes::group(&*group_named(&state.desired, asked.path("group"))?)));
    shown(Thing::Group, told)
}

fn wish(fields: &Fields, properties: Edit) -> Result<GroupWish, Refusal> {
    Ok(GroupWish {
        description: fields.text("description")?,
        properties,
        filter: fields.filter("select_filter")?,
        peer_slots: fields.integer("peer_slots")?,
    })
}

pub(crate) async fn create(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let (name, wish) = (fields.needed("name")?, wish(&fields, fields.properties()?)?);
        let notes = without_effect(&wish.properties);
        let work = Work::new(controller);
        let group = work.change(move |state, _| new_group(state, &name, &wish)).await?;
        let text = format!("there is a resource group {:?}", group.name);
        let refs = [("RscGrp", group.name.as_str()), ("UUID", &group.id.to_string())];
        Ok(Done::new(text, &refs).note(notes))
    };
    Subject::new(Verb::Create, Thing::Group).created(told.await)
}

pub(crate) async fn edit(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let (name, wish) = (asked.path("group").to_owned(), wish(&fields, fields.edit()?)?);
        let notes = without_effect(&wish.properties);
        let work = Work::new(controller);
        let group = work.change(move |state, _| edit_group(state, &name, &wish)).await?;
        let text = format!("the resource group {:?} is changed", group.name);
        let refs = [("RscGrp", group.name.as_str()), ("UUID", &group.id.to_string())];
        Ok(Done::new(text, &refs).note(notes))
    };
    Subject::new(Verb::Modify, Thing::Group).ok(told.await)
}

pub(crate) async fn delete(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let name = asked.path("group").to_owned();
        let called = name.clone();
        let work = Work::new(controller);
        Ok(match work.change(move |state, _| drop_group(state, &called)).await? {
            Some(group) => {
                let text = format!("the resource group {:?} is gone", group.name);
                Done::new(text, &[("RscGrp", group.name.as_str()), ("UUID", &group.id.to_string())])
            }
            None => Done::absent(&Refusal::NoGroup { name }),
        })
    };
    Subject::new(Verb::Delete, Thing::Group).ok(told.await)
}

pub(crate) async fn templates(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let group = group_named(&state.desired, asked.path("group"))?;
        let told = group.templates.iter().map(|it| shapes::template(&group, it));
        Ok(told.collect::<Vec<_>>())
    });
    shown(Thing::VolumeGroup, told)
}

pub(crate) async fn template(Given(controller): Shared, asked: Asked) -> Response {
    let told = controller.core.look(|state, _| {
        let group = group_named(&state.desired, asked.path("group"))?;
        let number = asked.number("number")?;
        let found = group.templates.iter().find(|it| it.number == number);
        let none = || Refusal::NoTemplate { group: group.name.clone(), number };
        found.map(|it| shapes::template(&group, it)).ok_or_else(none)
    });
    shown(Thing::VolumeGroup, told)
}

pub(crate) async fn create_template(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let fields = asked.fields()?;
        let (edit, flags) = (fields.properties()?, fields.list("flags")?.unwrap_or_default());
        let number = fields.integer("volume_number")?;
        let notes = without_effect(&edit);
        let (name, work) = (asked.path("group").to_owned(), Work::new(controller));
        let made =
            work.change(move |state, _| new_template(state, &name, (number, &edit, flags.clone())));
        let (group, number) = made.await?;
        let text = format!("the group {:?} has a volume group {number}", group.name);
        let refs = [("RscGrp", group.name.as_str()), ("VlmNr", &number.to_string())];
        Ok(Done::new(text, &refs).note(notes))
    };
    Subject::new(Verb::Create, Thing::VolumeGroup).created(told.await)
}

pub(crate) async fn edit_a_template(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let (number, edit) = (asked.number("number")?, asked.fields()?.edit()?);
        let notes = without_effect(&edit);
        let (name, work) = (asked.path("group").to_owned(), Work::new(controller));
        let group = work.change(move |state, _| edit_template(state, &name, number, &edit)).await?;
        let text = format!("the volume group {number} of {:?} is changed", group.name);
        let refs = [("RscGrp", group.name.as_str()), ("VlmNr", &number.to_string())];
        Ok(Done::new(text, &refs).note(notes))
    };
    Subject::new(Verb::Modify, Thing::VolumeGroup).ok(told.await)
}

pub(crate) async fn delete_template(Given(controller): Shared, asked: Asked) -> Answer {
    let told = async {
        let number = asked.number("number")?;
        let (name, work) = (asked.path("group").to_owned(), Work::new(controller));
        let called = name.clone();
        Ok(match work.change(move |state, _| drop_template(state, &called, number)).await? {
            Some(group) => {
                let text = format!("the volume group {number} of {:?} is gone", group.name);
                Done::new(text, &[("RscGrp", &group.name), ("VlmNr", &number.to_string())])
            }
            None => Done::absent(&Refusal::NoTemplate { group: name, number }),
        })
    };
    Subject::new(Verb::Delete, Thing::VolumeGroup).ok(told.await)
}
