//! Events from the bytes of a buffer.
//!
//! # Invariants
//! * All differences begin anew in each buffer, so a buffer that is damaged harms no other.
//! * A list is at most as long as the bytes that it was read from.
use crate::cursor::{Cursor, Fault};
use crate::event::{
    ClauseKind, CounterName, Event, HANDLE_KINDS, MonitorEvent, Phase, Record, Value,
};

/// Bytes of the head of a buffer.
pub(crate) const HEAD: usize = 48;
const ID: u32 = 0x4D50_4C01;
/// The section of performance counters, which have a category.
const PERFORMANCE: u64 = 1 << 15;

/// The head of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub len: u32,
    pub time: u64,
    pub pointer: u64,
    pub object: u64,
    pub thread: u64,
    pub method: u64,
}

impl Head {
    /// `Err` is the number in place of the one that buffers begin with.
    pub(crate) fn parse(bytes: &[u8; HEAD]) -> Result<Head, u32> {
        let number = |at: usize, len: usize| {
            (0..len).fold(0u64, |n, i| n | u64::from(bytes[at + i]) << (8 * i))
        };
        match number(0, 4) as u32 {
            ID => Ok(Head {
                len: number(4, 4) as u32,
                time: number(8, 8),
                pointer: number(16, 8),
                object: number(24, 8),
                thread: number(32, 8),
                method: number(40, 8),
            }),
            other => Err(other),
        }
    }
}

/// The lists of one event, kept for the next.
#[derive(Default)]
pub(crate) struct Lists {
    frames: Vec<u64>,
    pairs: Vec<(u64, u64)>,
}

/// The events of a buffer.
pub(crate) struct Events<'b> {
    head: Head,
    cursor: Cursor<'b>,
    mask: u64,
    time: u64,
    method: u64,
}

type Decoded<'e> = Result<Event<'e>, Fault>;

fn unknown<T>(what: &str, number: u64) -> Result<T, Fault> {
    Err(format!("{what} {number} is not known").into())
}

impl<'b> Events<'b> {
    pub(crate) fn new(head: Head, data: &'b [u8], mask: u64) -> Events<'b> {
        Events {
            head,
            cursor: Cursor::new(data),
            mask,
            time: head.time,
            method: head.method,
        }
    }

    /// Where the next event begins in the buffer.
    pub(crate) fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The next event. After an `Err` the rest of the buffer cannot be read.
    pub(crate) fn next<'e>(&mut self, lists: &'e mut Lists) -> Option<Result<Record<'e>, Fault>>
    where
        'b: 'e,
    {
        if self.cursor.left() == 0 {
            return None;
        }
        let before = self.cursor.position();
        let decoded = self
            .kind_and_time()
            .and_then(|kind| Ok((kind, self.event(kind, lists)?)));
        Some(decoded.map(|(kind, event)| Record {
            time: self.time,
            kind,
            size: self.cursor.position() - before,
            event,
        }))
    }

    fn kind_and_time(&mut self) -> Result<u8, Fault> {
        let kind = self.cursor.byte()?;
        // Modulo 2^64: names of methods carry times that are older than their buffer.
        self.time = self.time.wrapping_add(self.cursor.uleb()?);
        Ok(kind)
    }

    fn event<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e>
    where
        'b: 'e,
    {
        match kind & 0x0F {
            0 => self.allocation(kind, lists),
            1 => self.collection(kind, lists),
            2 => self.metadata(kind),
            3 => self.of_method(kind),
            4 => self.exception(kind, lists),
            5 => self.monitor(kind, lists),
            6 => self.heap(kind, lists),
            7 => self.sample(kind, lists),
            8 | 10 => self.rest(kind),
            _ => unknown("event", u64::from(kind)),
        }
    }

    fn pointer(&mut self) -> Result<u64, Fault> {
        Ok(self.head.pointer.wrapping_add(self.cursor.sleb()? as u64) & self.mask)
    }

    fn object(&mut self) -> Result<u64, Fault> {
        Ok(self
            .head
            .object
            .wrapping_add(self.cursor.sleb()? as u64)
            .wrapping_shl(3)
            & self.mask)
    }

    fn method(&mut self) -> Result<u64, Fault> {
        self.method = self.method.wrapping_add(self.cursor.sleb()? as u64) & self.mask;
        Ok(self.method)
    }

    fn frames<'e>(&mut self, lists: &'e mut Lists) -> Result<&'e [u64], Fault> {
        lists.frames.clear();
        for _ in 0..self.cursor.count(1)? {
            lists.frames.push(self.method()?);
        }
        Ok(&lists.frames)
    }

    fn frames_if<'e>(
        &mut self,
        there: bool,
        lists: &'e mut Lists,
    ) -> Result<Option<&'e [u64]>, Fault> {
        there.then(|| self.frames(lists)).transpose()
    }

    fn allocation<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e> {
        let has_frames = match kind {
            0x00 => false,
            0x10 => true,
            _ => return unknown("event", u64::from(kind)),
        };
        Ok(Event::Allocation {
            vtable: self.pointer()?,
            object: self.object()?,
            bytes: self.cursor.uleb()?,
            frames: self.frames_if(has_frames, lists)?,
        })
    }

    fn collection<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e> {
        Ok(match kind {
            0x11 => Event::Phase {
                phase: phase(self.cursor.byte()?)?,
                generation: self.cursor.byte()?,
            },
            0x21 => Event::HeapSize {
                bytes: self.cursor.uleb()?,
            },
            0x31 => {
                let count = self.cursor.count(1)?;
                if count % 2 != 0 {
                    return Err("a list of moves has an odd number of addresses".into());
                }
                lists.pairs.clear();
                for _ in 0..count / 2 {
                    let pair = (self.object()?, self.object()?);
                    lists.pairs.push(pair);
                }
                Event::Moves {
                    pairs: &lists.pairs,
                }
            }
            0x41 | 0x61 => {
                let number = self.cursor.uleb()?;
                Event::HandleMade {
                    kind: handle_kind(number)?,
                    handle: self.cursor.uleb()?,
                    object: self.object()?,
                    frames: self.frames_if(kind == 0x61, lists)?,
                }
            }
            0x51 | 0x71 => {
                let number = self.cursor.uleb()?;
                let freed = Event::HandleFreed {
                    kind: handle_kind(number)?,
                    handle: self.cursor.uleb()?,
                };
                self.frames_if(kind == 0x71, lists)?;
                freed
            }
            0x81 | 0x91 => Event::FinalizerBatch {
                begins: kind == 0x81,
            },
            0xA1 | 0xB1 => {
                self.object()?;
                Event::Finalizer {
                    begins: kind == 0xA1,
                }
            }
            _ => return unknown("event", u64::from(kind)),
        })
    }

    fn metadata<'e>(&mut self, kind: u8) -> Decoded<'e>
    where
        'b: 'e,
    {
        let what = self.cursor.byte()?;
        let id = self.pointer()?;
        Ok(match (kind, what) {
            (0x22, 1) => {
                self.pointer()?;
                Event::Class {
                    id,
                    name: self.cursor.text()?,
                }
            }
            (0x22, 2) => {
                let name = self.cursor.text()?;
                self.cursor.text()?;
                Event::Image { name }
            }
            (0x22, 3) => {
                self.pointer()?;
                Event::Assembly {
                    name: self.cursor.text()?,
                }
            }
            (0x22 | 0x42, 4) => Event::Domain { id, name: None },
            (0x02, 4) => Event::Domain {
                id,
                name: Some(self.cursor.text()?),
            },
            (0x22 | 0x42, 5) => Event::Thread {
                id,
                begins: kind == 0x22,
            },
            (0x02, 5) => Event::ThreadName {
                id,
                name: self.cursor.text()?,
            },
            (0x22, 7) => {
                self.pointer()?;
                Event::VTable {
                    id,
                    class: self.pointer()?,
                }
            }
            (0x22 | 0x42, 6) => {
                self.pointer()?;
                Event::OtherMetadata
            }
            (0x42, 2) => {
                self.cursor.text()?;
                Event::OtherMetadata
            }
            (0x42, 3) => {
                self.pointer()?;
                self.cursor.text()?;
                Event::OtherMetadata
            }
            _ => return unknown("metadata", u64::from(what) << 8 | u64::from(kind)),
        })
    }

    fn of_method<'e>(&mut self, kind: u8) -> Decoded<'e>
    where
        'b: 'e,
    {
        if !matches!(kind, 0x13 | 0x23 | 0x33 | 0x43) {
            return unknown("event", u64::from(kind));
        }
        let method = self.method()?;
        Ok(match kind {
            0x23 => Event::Enter { method },
            0x43 => Event::Method {
                id: method,
                code: self.pointer()?,
                bytes: self.cursor.uleb()?,
                name: self.cursor.text()?,
            },
            _ => Event::Leave {
                method,
                thrown: kind == 0x33,
            },
        })
    }

    fn exception<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e> {
        Ok(match kind {
            0x04 | 0x84 => {
                let object = self.object()?;
                Event::Throw {
                    object,
                    frames: self.frames_if(kind == 0x84, lists)?,
                }
            }
            0x14 => {
                let kind = match self.cursor.byte()? {
                    0 => ClauseKind::Catch,
                    1 => ClauseKind::Filter,
                    2 => ClauseKind::Finally,
                    4 => ClauseKind::Fault,
                    other => return unknown("clause", u64::from(other)),
                };
                self.cursor.uleb()?;
                self.method()?;
                self.object()?;
                Event::Clause { kind }
            }
            _ => return unknown("event", u64::from(kind)),
        })
    }

    fn monitor<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e> {
        if !matches!(kind, 0x05 | 0x85) {
            return unknown("event", u64::from(kind));
        }
        let what = match self.cursor.byte()? {
            1 => MonitorEvent::Contention,
            2 => MonitorEvent::Done,
            3 => MonitorEvent::Fail,
            other => return unknown("event of a monitor", u64::from(other)),
        };
        let object = self.object()?;
        Ok(Event::Monitor {
            what,
            object,
            frames: self.frames_if(kind == 0x85, lists)?,
        })
    }

    fn heap<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e> {
        lists.pairs.clear();
        Ok(match kind {
            0x06 | 0x16 => Event::Heapshot {
                begins: kind == 0x06,
            },
            0x26 => {
                let (object, vtable, bytes) =
                    (self.object()?, self.pointer()?, self.cursor.uleb()?);
                self.cursor.byte()?;
                let mut offset = 0u64;
                for _ in 0..self.cursor.count(2)? {
                    offset = offset.wrapping_add(self.cursor.uleb()?);
                    lists.pairs.push((offset, self.object()?));
                }
                Event::HeapObject {
                    object,
                    vtable,
                    bytes,
                    references: &lists.pairs,
                }
            }
            0x36 => {
                for _ in 0..self.cursor.count(2)? {
                    let pair = (self.pointer()?, self.object()?);
                    lists.pairs.push(pair);
                }
                Event::Roots {
                    pairs: &lists.pairs,
                }
            }
            0x46 => {
                self.pointer()?;
                self.cursor.uleb()?;
                self.cursor.byte()?;
                self.pointer()?;
                self.cursor.text()?;
                Event::RootRange
            }
            0x56 => {
                self.pointer()?;
                Event::RootRange
            }
            _ => return unknown("event", u64::from(kind)),
        })
    }

    fn sample<'e>(&mut self, kind: u8, lists: &'e mut Lists) -> Decoded<'e>
    where
        'b: 'e,
    {
        Ok(match kind {
            0x07 => {
                let (thread, mut address) = (self.pointer()?, None);
                for _ in 0..self.cursor.count(1)? {
                    let next = self.pointer()?;
                    address.get_or_insert(next);
                }
                Event::Sample {
                    thread,
                    address,
                    frames: self.frames(lists)?,
                }
            }
            0x17 => {
                let address = self.pointer()?;
                self.cursor.uleb()?;
                Event::Symbol {
                    address,
                    name: self.cursor.text()?,
                }
            }
            0x27 => {
                self.pointer()?;
                self.cursor.uleb()?;
                self.cursor.uleb()?;
                self.cursor.text()?;
                Event::Binary
            }
            0x37 => self.counter_names()?,
            0x47 => self.counters()?,
            _ => return unknown("event", u64::from(kind)),
        })
    }

    fn counter_names<'e>(&mut self) -> Decoded<'e>
    where
        'b: 'e,
    {
        let mut counters = Vec::new();
        for _ in 0..self.cursor.count(6)? {
            let section = self.cursor.uleb()?;
            let category = (section == PERFORMANCE)
                .then(|| self.cursor.text())
                .transpose()?;
            let (name, kind, unit) = (
                self.cursor.text()?,
                self.cursor.uleb()?,
                self.cursor.uleb()?,
            );
            self.cursor.uleb()?;
            let index = self.cursor.uleb()?;
            counters.push(CounterName {
                section,
                category,
                name,
                kind,
                unit,
                index,
            });
        }
        Ok(Event::CounterNames { counters })
    }

    fn counters<'e>(&mut self) -> Decoded<'e>
    where
        'b: 'e,
    {
        let mut values = Vec::new();
        loop {
            let index = self.cursor.uleb()?;
            if index == 0 {
                return Ok(Event::Counters { values });
            }
            let value = match self.cursor.uleb()? {
                0 | 2 | 3 | 7 => Value::Whole(i128::from(self.cursor.sleb()?)),
                1 | 4 => Value::Whole(i128::from(self.cursor.uleb()?)),
                5 => Value::Double(self.cursor.double()?),
                6 => Value::Text(match self.cursor.byte()? {
                    0 => None,
                    _ => Some(self.cursor.text()?),
                }),
                other => return unknown("kind of counter", other),
            };
            values.push((index, value));
        }
    }

    fn rest<'e>(&mut self, kind: u8) -> Decoded<'e>
    where
        'b: 'e,
    {
        Ok(match kind {
            0x18 => {
                let kind = self.cursor.byte()?;
                let (code, bytes) = (self.pointer()?, self.cursor.uleb()?);
                let name = (kind == 5).then(|| self.cursor.text()).transpose()?;
                Event::Stub {
                    kind,
                    code,
                    bytes,
                    name,
                }
            }
            0x0A => {
                self.cursor.byte()?;
                Event::Sync
            }
            0x1A => {
                self.cursor.text()?;
                Event::Precompiled
            }
            _ => return unknown("event", u64::from(kind)),
        })
    }
}

fn phase(number: u8) -> Result<Phase, Fault> {
    Ok(match number {
        0 => Phase::Start,
        5 => Phase::End,
        6 => Phase::Stopping,
        7 => Phase::Stopped,
        8 => Phase::Resuming,
        9 => Phase::Resumed,
        10 => Phase::StoppingLocked,
        11 => Phase::ResumedUnlocked,
        1..=4 => Phase::Retired,
        _ => return unknown("phase of a collection", u64::from(number)),
    })
}

fn handle_kind(number: u64) -> Result<crate::event::HandleKind, Fault> {
    let kind = usize::try_from(number)
        .ok()
        .and_then(|n| HANDLE_KINDS.get(n));
    match kind {
        Some((kind, _)) => Ok(*kind),
        None => unknown("kind of GC handle", number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{HandleKind, Record};
    use crate::testing::Buffer;
    use proptest::prelude::*;

    /// Appends an event that the numbers choose, and says what it should be read as.
    #[expect(clippy::too_many_lines, reason = "a table of events")]
    fn write(
        buffer: &mut Buffer,
        time: u64,
        (which, a, b, frames): &(u8, u64, u64, Vec<u64>),
    ) -> String {
        let (a, b, object, frames) = (*a, *b, *b & !7, frames.as_slice());
        let pairs = [(a & !7, object)];
        let event = match which % 9 {
            0 => {
                buffer
                    .event(0x10, time)
                    .pointer(a)
                    .object(object)
                    .number(b)
                    .frames(frames);
                Event::Allocation {
                    vtable: a,
                    object,
                    bytes: b,
                    frames: Some(frames),
                }
            }
            1 => {
                buffer
                    .event(0x07, time)
                    .pointer(a)
                    .number(2)
                    .pointer(b)
                    .pointer(7)
                    .frames(frames);
                Event::Sample {
                    thread: a,
                    address: Some(b),
                    frames,
                }
            }
            2 => {
                buffer
                    .event(0x43, time)
                    .method(a)
                    .pointer(b)
                    .number(a)
                    .text("A:B (\u{e9})");
                Event::Method {
                    id: a,
                    code: b,
                    bytes: a,
                    name: "A:B (\u{e9})".into(),
                }
            }
            3 => {
                buffer
                    .event(0x31, time)
                    .number(2)
                    .object(pairs[0].0)
                    .object(object);
                Event::Moves { pairs: &pairs }
            }
            4 => {
                buffer
                    .event(0x61, time)
                    .number(3)
                    .number(a)
                    .object(object)
                    .frames(frames);
                Event::HandleMade {
                    kind: HandleKind::Pinned,
                    handle: a,
                    object,
                    frames: Some(frames),
                }
            }
            5 => {
                buffer.event(0x33, time).method(a);
                Event::Leave {
                    method: a,
                    thrown: true,
                }
            }
            6 => {
                buffer
                    .event(0x85, time)
                    .byte(3)
                    .object(object)
                    .frames(frames);
                Event::Monitor {
                    what: MonitorEvent::Fail,
                    object,
                    frames: Some(frames),
                }
            }
            7 => {
                buffer
                    .event(0x26, time)
                    .object(object)
                    .pointer(a)
                    .number(b)
                    .byte(1)
                    .number(1);
                buffer.number(pairs[0].0).object(object);
                Event::HeapObject {
                    object,
                    vtable: a,
                    bytes: b,
                    references: &pairs,
                }
            }
            _ => {
                buffer
                    .event(0x47, time)
                    .number(9)
                    .number(5)
                    .bytes_of(1.5)
                    .number(8)
                    .number(6)
                    .byte(1)
                    .text("x");
                buffer.number(7).number(3).signed(a as i64).number(0);
                let whole = i128::from(a as i64);
                let texts = Value::Text(Some("x".into()));
                Event::Counters {
                    values: vec![
                        (9, Value::Double(1.5)),
                        (8, texts),
                        (7, Value::Whole(whole)),
                    ],
                }
            }
        };
        format!("{time} {event:?}")
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(
            events in prop::collection::vec((any::<u8>(), any::<u64>(), any::<u64>(), prop::collection::vec(any::<u64>(), 0..5)), 1..20),
            times: [u64; 20],
        ) {
            let mut buffer = Buffer::new(5);
            let wanted: Vec<String> =
                events.iter().zip(times).map(|(event, time)| write(&mut buffer, time, event)).collect();
            let bytes = buffer.bytes();
            let head = Head::parse(bytes.first_chunk().unwrap()).unwrap();
            prop_assert_eq!((head.thread, head.len as usize), (5, bytes.len() - HEAD));
            let (mut read, mut lists) = (Events::new(head, &bytes[HEAD..], u64::MAX), Lists::default());
            for wanted in wanted {
                let Record { time, event, .. } = read.next(&mut lists).unwrap().unwrap();
                prop_assert_eq!(format!("{time} {event:?}"), wanted);
            }
            prop_assert!(read.next(&mut lists).is_none());
        }

        #[test]
        fn any_bytes_are_read_to_their_end_or_a_fault(bytes: Vec<u8>) {
            let head = Head { len: bytes.len() as u32, time: 0, pointer: 1, object: 2, thread: 3, method: 4 };
            let (mut read, mut lists) = (Events::new(head, &bytes, u64::MAX), Lists::default());
            while let Some(Ok(record)) = read.next(&mut lists) {
                prop_assert!(record.size > 0);
            }
            prop_assert!(read.position() <= bytes.len());
        }
    }
}
