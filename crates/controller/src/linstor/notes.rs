//! Notes after a success: they name properties that are kept, and that nobody acts on.

use crate::linstor::answer::Note;
use crate::model::properties::Edit;

/// Below these LINSTOR acts on properties, and this controller does not.
const SPACES: [&str; 6] =
    ["DrbdOptions/", "FileSystem/", "StorDriver/", "sys/fs/", "Autoplacer/", "AutoSnapshot/"];

/// One note for each property of an edit that has no effect here. A switch that is turned off has
/// the effect that is wanted.
pub(crate) fn without_effect(edit: &Edit) -> Vec<Note> {
    let is_off = |value: &str| matches!(value, "no" | "false" | "False" | "off");
    let is_known = |key: &str| {
        let key = key.trim_start_matches('/');
        SPACES.iter().any(|space| key.starts_with(space))
    };
    let put = edit.put.iter().filter(|(key, value)| is_known(key) && !is_off(value));
    put.map(|(key, _)| Note::NoEffect(key.clone())).collect()
}
