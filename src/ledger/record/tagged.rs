//! Reading a record whose `type` comes first, as it is always written: the fields after it go straight to where they
//! belong. Reading by tag wherever it stands would hold every record in memory twice.

use super::v1::{Attempt, Outcome, Record};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use std::{fmt, marker::PhantomData};

/// The word before the value of `type`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tag {
    Type,
}

/// The value of `type`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Attempt,
    Outcome,
    Note,
}

impl<'de, K, A, N> Deserialize<'de> for Record<K, A, N>
where
    K: Deserialize<'de>,
    A: Deserialize<'de>,
    N: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor(PhantomData))
    }
}

struct RecordVisitor<R>(PhantomData<R>);

impl<'de, K, A, N> Visitor<'de> for RecordVisitor<Record<K, A, N>>
where
    K: Deserialize<'de>,
    A: Deserialize<'de>,
    N: Deserialize<'de>,
{
    type Value = Record<K, A, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record that begins with its type")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let Some(Tag::Type) = map.next_key()? else { return Err(M::Error::missing_field("type")) };
        let kind = map.next_value()?;
        let rest = MapAccessDeserializer::new(map);
        match kind {
            Kind::Attempt => Attempt::deserialize(rest).map(Record::Attempt),
            Kind::Outcome => Outcome::deserialize(rest).map(Record::Outcome),
            Kind::Note => N::deserialize(rest).map(Record::Note),
        }
    }
}
