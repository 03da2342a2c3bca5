//! A recording: reads a file or a stream to its end, or as far as it can be read.
//!
//! # Invariants
//! * Reading is total: whatever the bytes are, it ends with a recording or an [`Error`], and memory is bounded by the bytes.
//! * A buffer that cannot be read to its end is used up to the event at fault; the next buffer begins where its length says. Behind
//!   something that is no buffer nothing is read, as mprof-report does it.
use crate::Error;
use crate::decode::{Events, HEAD, Head, Lists};
use crate::header::Header;
use crate::profile::{Filter, Profile};
use crate::source::Source;
use std::io::Read;

/// How many losses are described; the others are counted.
const DESCRIBED: usize = 8;

/// What a recording says.
pub struct Recording {
    /// Its header.
    pub header: Header,
    /// What could not be read, a sentence each.
    pub losses: Vec<String>,
    pub(crate) profile: Profile,
}

impl Recording {
    /// Reads a recording. `Err` if `input` does not begin as one.
    pub fn read(input: impl Read, filter: &Filter) -> Result<Recording, Error> {
        let mut source = Source::new(input);
        let header = Header::read(&mut source)?;
        let mut recording = Recording {
            profile: Profile::new(filter.clone(), header.allocation_period()),
            losses: Vec::new(),
            header,
        };
        let mut lost = Lost::default();
        recording.buffers(&mut source, &mut lost);
        recording.profile.finish();
        recording.losses = lost.finish();
        Ok(recording)
    }

    fn buffers(&mut self, source: &mut Source<'_>, lost: &mut Lost) {
        let (mut bytes, mut lists) = (Vec::new(), Lists::default());
        loop {
            let at = source.position();
            source.fill(&mut bytes, HEAD as u64);
            if bytes.is_empty() {
                break;
            }
            let Ok(head) = <&[u8; HEAD]>::try_from(bytes.as_slice()) else {
                lost.say(format!(
                    "The file ends within the head of a buffer, at byte {at}: {} bytes are lost",
                    bytes.len()
                ));
                break;
            };
            let head = match Head::parse(head) {
                Ok(head) => head,
                Err(id) => {
                    lost.say(format!(
                        "There is no buffer at byte {at}, but {id:#010x}: all that follows is lost"
                    ));
                    break;
                }
            };
            source.fill(&mut bytes, u64::from(head.len));
            if bytes.len() < head.len as usize {
                lost.say(format!(
                    "The file ends within the buffer at byte {at}: {} of its {} bytes are there, and are not used",
                    bytes.len(),
                    head.len
                ));
                break;
            }
            self.buffer(head, &bytes, &mut lists, at, lost);
        }
        if let Some(trouble) = source.trouble() {
            lost.say(format!(
                "Reading stopped at byte {}: {trouble}",
                source.position()
            ));
        }
    }

    fn buffer(&mut self, head: Head, bytes: &[u8], lists: &mut Lists, at: u64, lost: &mut Lost) {
        self.profile.buffer(head.time);
        let mut events = Events::new(head, bytes, self.header.mask());
        loop {
            let position = events.position();
            match events.next(lists) {
                None => break,
                Some(Ok(record)) => self.profile.add(head.thread, &record),
                Some(Err(fault)) => {
                    let start = at + (HEAD + position) as u64;
                    let kind = bytes.get(position).copied().unwrap_or(0);
                    lost.say(format!(
                        "The event at byte {start} ({kind:#04x}) cannot be read: {fault}; {} bytes of its buffer are lost",
                        bytes.len() - position
                    ));
                    break;
                }
            }
        }
    }
}

#[derive(Default)]
struct Lost {
    said: Vec<String>,
    more: u64,
}

impl Lost {
    fn say(&mut self, text: String) {
        match self.said.len() < DESCRIBED {
            true => self.said.push(text + "."),
            false => self.more += 1,
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.said
                .push(format!("There are {} more places of that sort.", self.more));
        }
        self.said
    }
}
