//! How single values become bytes: little-endian, packed, checked on the way in.
//!
//! A type implements `Wire`, most of them by a table (`record!`, `tags!`, `messages!`) that lists
//! fields in the order of their bytes. The order in the table is the format; the order in the type
//! is not. Reading never panics, and never reserves more memory than the input has bytes.

use crate::error::{DecodeError, EncodeError};

pub(crate) mod ids;
mod config;
mod metadata;
mod link;
mod control;
mod data;

pub(crate) use config::{CONFIG_BYTES_MAX, End};
pub(crate) use control::{CONTROL_TAG_MIN, CONTROL_TAGS};
pub(crate) use data::{DATA_TAG_MIN, DATA_TAGS, get_data, put_data, tag_of_data};
pub(crate) use link::{LINK_TAGS, get_link};
pub use link::{QUANTUM_BYTES_MAX, QUANTUM_BYTES_MIN};

/// The longest name of a resource, in bytes.
pub const NAME_BYTES_MAX: usize = 127;

/// A value with one encoding.
pub(crate) trait Wire: Sized {
    fn put(&self, writer: &mut Writer<'_>);
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// A value that occurs in lists, and how many of it a list may have.
pub(crate) trait ListItem: Wire {
    const COUNT_MAX: usize;
}

/// Fills a buffer of fixed size; the first fault sticks, so that a table needs no checks.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    position: usize,
    fault: Option<EncodeError>,
    /// Whoever reads it knows of `QuestionId`.
    pub(crate) names_questions: bool,
}

impl<'a> Writer<'a> {
    /// Writes from `position` on.
    pub(crate) fn new(bytes: &'a mut [u8], position: usize) -> Self {
        Self { bytes, position, fault: None, names_questions: true }
    }
    /// The place of the next `N` bytes, or `None` if there is none.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        let place = self.bytes.get_mut(self.position..).and_then(<[u8]>::first_chunk_mut);
        match place {
            Some(_) => self.position += N,
            None => self.fault = self.fault.or(Some(EncodeError::Full)),
        }
        place
    }
    pub(crate) fn slice(&mut self, source: &[u8]) {
        let place =
            self.bytes.get_mut(self.position..).and_then(|rest| rest.get_mut(..source.len()));
        match place {
            Some(place) => {
                place.copy_from_slice(source);
                self.position += source.len();
            }
            None => self.fail(EncodeError::Full),
        }
    }
    /// Keeps the first fault.
    pub(crate) fn fail(&mut self, fault: EncodeError) {
        self.fault.get_or_insert(fault);
    }
    /// Where the next byte would go.
    pub(crate) fn finish(self) -> Result<usize, EncodeError> {
        match self.fault {
            None => Ok(self.position),
            Some(fault) => Err(fault),
        }
    }
}

/// Takes values from the front of a buffer.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// What a fault that is found now is in.
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from `position` on; offsets in errors count from the start of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], position: usize, what: &'static str) -> Self {
        Self { bytes, position, what }
    }
    pub(crate) fn position(&self) -> usize {
        self.position
    }
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], DecodeError> {
        match self.bytes.get(self.position..).and_then(<[u8]>::first_chunk) {
            Some(chunk) => {
                self.position += N;
                Ok(chunk)
            }
            None => Err(self.truncated(N)),
        }
    }
    #[inline]
    pub(crate) fn slice(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        match self.bytes.get(self.position..).and_then(|rest| rest.get(..length)) {
            Some(slice) => {
                self.position += length;
                Ok(slice)
            }
            None => Err(self.truncated(length)),
        }
    }
    /// A field of a record, named in errors.
    #[inline]
    pub(crate) fn field<T: Wire>(&mut self, what: &'static str) -> Result<T, DecodeError> {
        self.what = what;
        T::get(self)
    }
    /// A field that is a list, into memory that may have served before.
    fn list<T: ListItem>(
        &mut self,
        what: &'static str,
        items: &mut Vec<T>,
    ) -> Result<(), DecodeError> {
        self.what = what;
        get_list(self, items)
    }
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }
    /// Everything must have been read, but for zeroes.
    pub(crate) fn finish_zeroes(self) -> Result<(), DecodeError> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let Some(at) = rest.iter().position(|byte| *byte != 0) else { return Ok(()) };
        let (what, offset) = (self.what, self.position + at);
        Err(DecodeError::Trailing { what, offset, value: (rest.len() - at) as u64 })
    }
    /// Everything must have been read.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        let left = self.left();
        if left == 0 {
            return Ok(());
        }
        let Self { position: offset, what, .. } = self;
        Err(DecodeError::Trailing { what, offset, value: left as u64 })
    }
    /// The value just read, of `length` bytes, is not allowed.
    #[cold]
    pub(crate) fn out_of_range(&self, length: usize, value: u64) -> DecodeError {
        let offset = self.position.saturating_sub(length);
        DecodeError::OutOfRange { what: self.what, offset, value }
    }
    #[cold]
    pub(crate) fn unknown_tag(&self, length: usize, value: u64) -> DecodeError {
        let offset = self.position.saturating_sub(length);
        DecodeError::UnknownTag { what: self.what, offset, value }
    }
    #[cold]
    fn truncated(&self, length: usize) -> DecodeError {
        let missing = length.saturating_sub(self.left());
        DecodeError::Truncated { what: self.what, offset: self.bytes.len(), value: missing as u64 }
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Wire for $integer {
            #[inline]
            fn put(&self, writer: &mut Writer<'_>) {
                if let Some(place) = writer.array() {
                    *place = self.to_le_bytes();
                }
            }
            #[inline]
            fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                reader.array().map(|bytes| Self::from_le_bytes(*bytes))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, u128);

impl Wire for bool {
    fn put(&self, writer: &mut Writer<'_>) {
        u8::from(*self).put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::get(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(reader.out_of_range(1, other.into())),
        }
    }
}

/// A byte that says whether the value follows.
impl<T: Wire> Wire for Option<T> {
    fn put(&self, writer: &mut Writer<'_>) {
        self.is_some().put(writer);
        if let Some(value) = self {
            value.put(writer);
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(if bool::get(reader)? { Some(T::get(reader)?) } else { None })
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, writer: &mut Writer<'_>) {
        T::put(self, writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        T::get(reader).map(Self::new)
    }
}

/// A count of 32 bits, then the items.
impl<T: ListItem> Wire for Vec<T> {
    fn put(&self, writer: &mut Writer<'_>) {
        match u32::try_from(self.len()) {
            Ok(count) if self.len() <= T::COUNT_MAX => count.put(writer),
            Ok(_) | Err(_) => {
                let what = std::any::type_name::<T>();
                writer.fail(EncodeError::TooLong { what, count: self.len(), max: T::COUNT_MAX });
                return;
            }
        }
        for item in self {
            item.put(writer);
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut items = Self::new();
        get_list(reader, &mut items)?;
        Ok(items)
    }
}

/// Reads a list into memory that may have served before.
fn get_list<T: ListItem>(reader: &mut Reader<'_>, items: &mut Vec<T>) -> Result<(), DecodeError> {
    items.clear();
    let count = u32::get(reader)?;
    let Some(length) = usize::try_from(count).ok().filter(|length| *length <= T::COUNT_MAX) else {
        return Err(reader.out_of_range(4, count.into()));
    };
    items.reserve_exact(believable::<T>(length, reader.left()));
    let what = reader.what;
    for _ in 0..length {
        items.push(reader.field(what)?);
    }
    Ok(())
}

/// How many of `count` items to reserve memory for, if `left` bytes are there to be read: a count
/// that is not true reserves no more than the input itself takes.
fn believable<T>(count: usize, left: usize) -> usize {
    count.min(left / size_of::<T>().max(1))
}

/// A count of 16 bits, then UTF-8.
impl Wire for String {
    fn put(&self, writer: &mut Writer<'_>) {
        match u16::try_from(self.len()) {
            Ok(length) if self.len() <= NAME_BYTES_MAX => {
                length.put(writer);
                writer.slice(self.as_bytes());
            }
            Ok(_) | Err(_) => writer.fail(EncodeError::TooLong {
                what: "name",
                count: self.len(),
                max: NAME_BYTES_MAX,
            }),
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = u16::get(reader)?;
        if usize::from(length) > NAME_BYTES_MAX {
            return Err(reader.out_of_range(2, length.into()));
        }
        let bytes = reader.slice(length.into())?;
        match std::str::from_utf8(bytes) {
            Ok(name) => Ok(name.to_owned()),
            Err(fault) => {
                let behind = bytes.len() - fault.valid_up_to();
                let byte = bytes.get(fault.valid_up_to()).copied().unwrap_or_default();
                Err(reader.out_of_range(behind, byte.into()))
            }
        }
    }
}

/// `record!(Type { fields in the order of their bytes })`
macro_rules! record {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl crate::wire::Wire for $name {
            fn put(&self, writer: &mut crate::wire::Writer<'_>) {
                $(self.$field.put(writer);)*
            }
            fn get(
                reader: &mut crate::wire::Reader<'_>,
            ) -> Result<Self, crate::error::DecodeError> {
                Ok(Self {
                    $($field: reader.field(concat!(stringify!($name), ".", stringify!($field)))?,)*
                })
            }
        }
    };
}

/// `tags!(Type { number Variant, .. })` for an enum without fields: one byte.
macro_rules! tags {
    ($name:ident { $($tag:literal $variant:ident),* $(,)? }) => {
        impl crate::wire::Wire for $name {
            fn put(&self, writer: &mut crate::wire::Writer<'_>) {
                let tag: u8 = match self {
                    $(Self::$variant => $tag,)*
                };
                tag.put(writer);
            }
            fn get(
                reader: &mut crate::wire::Reader<'_>,
            ) -> Result<Self, crate::error::DecodeError> {
                match u8::get(reader)? {
                    $($tag => Ok(Self::$variant),)*
                    other => Err(reader.unknown_tag(1, other.into())),
                }
            }
        }
    };
}

/// `messages!(Type, ALL_TAGS { number Variant { fields } or (field), .. })`: one function each for
/// the tag, the way out and the way in. A variant that the table lacks does not build.
macro_rules! messages {
    ($name:ident, $tags:ident {
        $($tag:literal $variant:ident $({ $($field:ident),* $(,)? })? $(($inner:ident))?)*
    }) => {
        /// Every tag of the table.
        pub(crate) const $tags: &[u16] = &[$($tag),*];

        impl $name {
            pub(crate) fn tag(&self) -> u16 {
                match self {
                    $(Self::$variant { .. } => $tag,)*
                }
            }
            pub(crate) fn put_body(&self, writer: &mut crate::wire::Writer<'_>) {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => {
                        $($($field.put(writer);)*)?
                        $($inner.put(writer);)?
                    })*
                }
            }
            pub(crate) fn get_body(
                tag: u16,
                reader: &mut crate::wire::Reader<'_>,
            ) -> Result<Self, crate::error::DecodeError> {
                match tag {
                    $($tag => Ok(Self::$variant $({
                        $($field: reader.field(
                            concat!(stringify!($variant), ".", stringify!($field)),
                        )?,)*
                    })? $((
                        reader.field(concat!(stringify!($variant), ".", stringify!($inner)))?,
                    ))?),)*
                    other => Err(reader.unknown_tag(0, other.into())),
                }
            }
        }
    };
}
pub(crate) use {messages, record, tags};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockRange;

    #[test]
    fn count_without_items_reserves_no_more_than_the_input_takes() {
        assert_eq!(believable::<u128>(4096, 100), 6);
        assert_eq!(believable::<u128>(3, 100), 3);
        let mut bytes = [0; 100];
        bytes[..4].copy_from_slice(&4096_u32.to_le_bytes());
        bytes[12] = 1;
        let mut reader = Reader::new(&bytes[..20], 0, "test");
        let fault = Vec::<BlockRange>::get(&mut reader).unwrap_err();
        assert_eq!(fault, DecodeError::Truncated { what: "test", offset: 20, value: 4 });
    }
}
