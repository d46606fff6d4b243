//! Records on stable storage, without the blocks around them.

use crate::metadata::Candidate;
use crate::wire::record;

record!(Candidate { epoch, value_id });
