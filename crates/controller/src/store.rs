//! The store: one file of redb with an object of JSON under each key.
//!
//! A commit is durable when it returns. `objects` holds `KIND/ID` -> JSON; `meta` holds the version
//! of this schema, the number of changes, and the cluster's id.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::model::{Change, Desired, Key, Object};

/// Raised when an object of a former version cannot be read any more; a migration comes with it.
const SCHEMA_VERSION: u64 = 1;
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store {}: {reason}", path.display())]
    Failed { path: PathBuf, reason: String },
    #[error(
        "the store {} is of version {found}, and this release knows {SCHEMA_VERSION}",
        path.display()
    )]
    Newer { path: PathBuf, found: u64 },
}

#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// Absent after a commit that failed, until it can be opened again: redb takes no other one.
    database: Mutex<Option<Database>>,
}

/// What a store held when it was opened.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) cluster: Uuid,
    pub(crate) desired: Desired,
    /// Objects that cannot be read: they are left as they are, and nobody sees them.
    pub(crate) unreadable: Vec<String>,
}

impl Store {
    /// Opens the store, or makes a new one of a new cluster.
    pub(crate) fn open(path: &Path) -> Result<(Self, Loaded), StoreError> {
        let failed = |error: redb::Error| failure(path, &error);
        let database = Database::create(path).map_err(|error| failed(error.into()))?;
        let loaded = match load(&database).map_err(failed)? {
            Some(meta) if meta.version > SCHEMA_VERSION => {
                let (path, found) = (path.to_owned(), meta.version);
                return Err(StoreError::Newer { path, found });
            }
            Some(meta) => meta.loaded,
            None => begin(&database).map_err(failed)?,
        };
        let database = Mutex::new(Some(database));
        Ok((Self { path: path.to_owned(), database }, loaded))
    }

    /// All of the changes, or none of them; durable when it returns.
    pub(crate) fn commit(&self, changes: &[Change], revision: u64) -> Result<(), StoreError> {
        self.write(changes, revision).map_err(|error| failure(&self.path, &error))
    }

    fn write(&self, changes: &[Change], revision: u64) -> Result<(), redb::Error> {
        let mut place = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let database = match place.take() {
            Some(database) => database,
            None => self.open_again(revision)?,
        };
        write(&database, changes, revision)?;
        *place = Some(database);
        Ok(())
    }

    /// The commit that failed may be in the store all the same: then memory is behind it.
    fn open_again(&self, revision: u64) -> Result<Database, redb::Error> {
        let database = Database::open(&self.path)?;
        let stored = load(&database)?.map(|meta| meta.loaded.desired.revision);
        if stored.is_some_and(|stored| stored < revision) {
            return Ok(database);
        }
        let told = "it holds a change that was told to have failed: start the controller again";
        Err(redb::Error::Io(std::io::Error::other(told)))
    }
}

fn begin(database: &Database) -> Result<Loaded, redb::Error> {
    let cluster = Uuid::new_v4();
    let write = database.begin_write()?;
    {
        write.open_table(OBJECTS)?;
        let mut meta = write.open_table(META)?;
        meta.insert("version", SCHEMA_VERSION.to_string().as_str())?;
        meta.insert("revision", "0")?;
        meta.insert("cluster", cluster.to_string().as_str())?;
    }
    write.commit()?;
    Ok(Loaded { cluster, desired: Desired::default(), unreadable: Vec::new() })
}

fn load(database: &Database) -> Result<Option<Meta>, redb::Error> {
    let read = database.begin_read()?;
    let meta = match read.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = |key: &str| -> Result<String, redb::Error> {
        Ok(meta.get(key)?.map(|value| value.value().to_owned()).unwrap_or_default())
    };
    let version = text("version")?.parse().unwrap_or(u64::MAX);
    let cluster = text("cluster")?.parse().unwrap_or_default();
    let revision = text("revision")?.parse().unwrap_or(0);
    let mut desired = Desired { revision, ..Desired::default() };
    let mut unreadable = Vec::new();
    for entry in read.open_table(OBJECTS)?.iter()? {
        let (key, value) = entry?;
        match decode(key.value(), value.value()) {
            Some(object) => desired.apply(Change::Put(object)),
            None => unreadable.push(key.value().to_owned()),
        }
    }
    Ok(Some(Meta { version, loaded: Loaded { cluster, desired, unreadable } }))
}

fn write(database: &Database, changes: &[Change], revision: u64) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    {
        let mut objects = write.open_table(OBJECTS)?;
        for change in changes {
            match change {
                Change::Put(object) => {
                    objects.insert(text_of(&object.key()).as_str(), encode(object).as_slice())?;
                }
                Change::Drop(key) => {
                    objects.remove(text_of(key).as_str())?;
                }
            }
        }
        write.open_table(META)?.insert("revision", revision.to_string().as_str())?;
    }
    write.commit()?;
    Ok(())
}

struct Meta {
    version: u64,
    loaded: Loaded,
}

fn failure(path: &Path, error: &redb::Error) -> StoreError {
    StoreError::Failed { path: path.to_owned(), reason: error.to_string() }
}

fn text_of(key: &Key) -> String {
    match key {
        Key::Node(id) => format!("node/{id}"),
        Key::Pool(id) => format!("pool/{id}"),
        Key::Volume(id) => format!("volume/{id}"),
        Key::Tombstone(node, volume) => format!("tombstone/{node}/{volume}"),
        // In order of their numbers.
        Key::Operation(id) => format!("operation/{id:020}"),
        Key::Word(digest) => format!("word/{digest}"),
        Key::Group(id) => format!("group/{id}"),
        Key::Bag(owner) => format!("bag/{}", owner.text()),
    }
}

fn encode(object: &Object) -> Vec<u8> {
    match object {
        Object::Node(it) => json(it),
        Object::Pool(it) => json(it),
        Object::Volume(it) => json(it),
        Object::Tombstone(it) => json(it),
        Object::Operation(it) => json(it),
        Object::Word(it) => json(it),
        Object::Group(it) => json(it),
        Object::Bag(it) => json(it),
    }
}

fn json(object: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(object).expect("objects are made of strings, numbers and lists")
}

/// `None` of what cannot be read, or lies under another key than its own.
fn decode(key: &str, bytes: &[u8]) -> Option<Object> {
    let object = match key.split_once('/')?.0 {
        "node" => Object::Node(read(bytes)?),
        "pool" => Object::Pool(read(bytes)?),
        "volume" => Object::Volume(read(bytes)?),
        "tombstone" => Object::Tombstone(read(bytes)?),
        "operation" => Object::Operation(read(bytes)?),
        "word" => Object::Word(read(bytes)?),
        "group" => Object::Group(read(bytes)?),
        "bag" => Object::Bag(read(bytes)?),
        _ => return None,
    };
    (text_of(&object.key()) == key).then_some(object)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use api::cluster::{OperationKind, OperationState};

    use super::*;
    use crate::model::Operation;

    fn operation(id: u64) -> Operation {
        Operation {
            id,
            kind: OperationKind::Create,
            object: "db".to_owned(),
            state: OperationState::Running,
            reason: String::new(),
            began_ms: 1,
            ended_ms: None,
        }
    }

    #[test]
    fn what_was_committed_is_there_after_the_store_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        let (store, first) = Store::open(&path).unwrap();
        let changes: Vec<_> =
            [7, 8].map(|id| Change::Put(Object::Operation(operation(id)))).into_iter().collect();
        store.commit(&changes, 1).unwrap();
        store.commit(&[Change::Drop(Key::Operation(8))], 2).unwrap();
        drop(store);
        let (_store, again) = Store::open(&path).unwrap();
        assert_eq!(again.cluster, first.cluster);
        assert_eq!(again.desired.revision, 2);
        assert_eq!(again.desired.operations.into_values().collect::<Vec<_>>(), [operation(7)]);
        assert!(again.unreadable.is_empty());
    }

    #[test]
    fn object_that_cannot_be_read_is_named_and_keeps_no_other_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        let (store, _) = Store::open(&path).unwrap();
        store.commit(&[Change::Put(Object::Operation(operation(7)))], 1).unwrap();
        let database = store.database.lock().unwrap();
        let write = database.as_ref().unwrap().begin_write().unwrap();
        {
            let mut objects = write.open_table(OBJECTS).unwrap();
            objects.insert("volume/1", b"{".as_slice()).unwrap();
            // Whole, and of another key.
            objects
                .insert("operation/9", encode(&Object::Operation(operation(7))).as_slice())
                .unwrap();
        }
        write.commit().unwrap();
        drop(database);
        drop(store);
        let (_store, again) = Store::open(&path).unwrap();
        assert_eq!(again.unreadable, ["operation/9", "volume/1"]);
        assert_eq!(again.desired.operations.len(), 1);
    }

    #[test]
    fn store_of_a_newer_release_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        drop(Store::open(&path).unwrap());
        let database = Database::create(&path).unwrap();
        let write = database.begin_write().unwrap();
        write.open_table(META).unwrap().insert("version", "2").unwrap();
        write.commit().unwrap();
        drop(database);
        let told = Store::open(&path).unwrap_err().to_string();
        assert!(told.ends_with("is of version 2, and this release knows 1"), "{told}");
    }

    /// Volumes had one size and one minor, in themselves.
    #[test]
    fn objects_of_the_first_stores_are_read_as_before() {
        let volume = include_bytes!("../tests/golden/volume_of_one_size.json");
        let key = "volume/6f0e0b0a-8c2d-4c53-9a53-5f3c1f4f0c11";
        let Some(Object::Volume(volume)) = decode(key, volume) else { panic!("it is not read") };
        let part = &volume.parts[0];
        assert_eq!((part.number, part.size_bytes, part.minor), (0, 1 << 30, 1000));
        assert_eq!((volume.parts.len(), volume.placements.len()), (1, 2));
        assert!(!volume.defined && volume.group.is_none() && volume.external_name.is_none());
        let again = decode(key, &encode(&Object::Volume(volume.clone())));
        assert_eq!(again, Some(Object::Volume(volume)), "as it is written today");
        let stone = include_bytes!("../tests/golden/tombstone_of_one_part.json");
        let key = "tombstone/0b7f2f2e-58c5-4a56-8a3a-3c1df1a3a001/\
                   6f0e0b0a-8c2d-4c53-9a53-5f3c1f4f0c11";
        let Some(Object::Tombstone(stone)) = decode(key, stone) else { panic!("it is not read") };
        assert_eq!(stone.parts, [0]);
    }
}
