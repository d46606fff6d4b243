//! The volumes of one replica go to us, or back to DRBD, together.
//!
//! All are looked at before the first is written to. Then one goes after the other: to us the first
//! volume before the others, whose metadata names its replica; back in the opposite order. So
//! wherever a run ends, a volume of ours has the first one that it was made for, and another run
//! goes on in either direction.

use format::metadata::{Content, FurtherDisk};
use format::space::Place;

use crate::adopt_drbd::{
    AdoptError, AdoptOptions, AdoptReport, Resolve, ReturnReport, Step, adopt_volume, give_back,
};

/// What a volume has in common with the others of its replica.
#[derive(Clone, Copy, Default)]
pub(super) struct Common {
    /// Of a volume behind the first: the first.
    pub(super) first: Option<FurtherDisk>,
    /// As many members as the smallest of the disks has room for.
    pub(super) slots: Option<u8>,
}

/// Takes the volumes of a replica over, in the order of their numbers. `told` hears of each step
/// when it is durable.
///
/// # Errors
/// If one of them cannot be taken over, before anything is written; and as [`super::adopt`] fails.
pub fn adopt_all(
    volumes: &[AdoptOptions],
    resolve: Resolve,
    told: &mut dyn FnMut(u16, Step),
) -> Result<Vec<AdoptReport>, AdoptError> {
    let look =
        |volume: &AdoptOptions| adopt_volume(volume, Common::default(), Resolve::Tell, &mut |_| ());
    let possible: Vec<AdoptReport> = volumes.iter().map(look).collect::<Result<_, _>>()?;
    if resolve == Resolve::Tell {
        return Ok(possible);
    }
    let slots = possible.iter().map(|report| report.slots).min();
    let mut common = Common { first: None, slots };
    let mut reports = Vec::new();
    for options in volumes {
        let mut told = |step| told(options.volume, step);
        let report = adopt_volume(options, common, resolve, &mut told)?;
        common.first.get_or_insert(FurtherDisk {
            place: Place::FIRST,
            incarnation: report.incarnation,
            size_bytes: report.size_bytes,
            content: Content::OfHistory,
        });
        reports.push(report);
    }
    Ok(reports)
}

/// Gives the volumes of a replica back to DRBD, as they were.
///
/// # Errors
/// If one of them cannot be given back, before anything is written; and as [`give_back`] fails.
pub fn give_back_all(
    volumes: &[AdoptOptions],
    resolve: Resolve,
    told: &mut dyn FnMut(u16, Step),
) -> Result<Vec<ReturnReport>, AdoptError> {
    let (mut possible, mut nothing) = (Vec::new(), None);
    for options in volumes.iter().rev() {
        match give_back(options, Resolve::Tell, &mut |_| ()) {
            Ok(report) => possible.push((options, report)),
            // An earlier run did not come to it, or was done with it.
            Err(error @ AdoptError::NothingSaved { .. }) => nothing = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let (true, Some(error)) = (possible.is_empty(), nothing) {
        return Err(error);
    }
    if resolve == Resolve::Tell {
        return Ok(possible.into_iter().map(|(_, report)| report).collect());
    }
    let back = |(options, _): (&AdoptOptions, _)| {
        give_back(options, resolve, &mut |step| told(options.volume, step))
    };
    possible.into_iter().map(back).collect()
}
