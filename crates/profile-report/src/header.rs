//! The header of a recording.
use crate::Error;
use crate::source::Source;

/// What the header says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Version of the profiler that wrote it: 3.0.
    pub profiler: (u8, u8),
    /// Version of the format: 16 or 17.
    pub format: u8,
    /// Bytes of a pointer: 4 or 8.
    pub pointer: u8,
    /// When the recording began, in milliseconds since 1970.
    pub start_ms: u64,
    /// The same moment by the clock of the events, in nanoseconds.
    pub start_ns: u64,
    /// What reading the clock costs, in nanoseconds.
    pub timer_ns: u32,
    /// The process.
    pub pid: u32,
    /// The port of the command server.
    pub port: u16,
    /// What stood behind `--profile=`.
    pub arguments: String,
    /// The processor, as `x86-64`.
    pub architecture: String,
    /// The operating system, as `linux`.
    pub system: String,
}

const ID: u32 = 0x4D50_5A01;
const FIXED: usize = 38;
/// The longest text of a header that is believed, in bytes.
const LONGEST: u32 = 1 << 20;

/// Bytes between two recorded allocations, unless the option says otherwise.
const ALLOCATION_PERIOD: u64 = 512 << 10;

impl Header {
    /// Bytes between two recorded allocations, on average. None: all of them were recorded, or none.
    pub fn allocation_period(&self) -> Option<u64> {
        let (_, items) = self.arguments.split_once(':')?;
        let items = || items.split(',');
        let has = |item: &str| items().any(|i| i == item);
        if (has("gcalloc") || has("alloc")) && !has("nogcalloc") && !has("noalloc") {
            return None;
        }
        let last = items().rfind(|i| i.starts_with("allocsample"))?;
        match last.split_once('=') {
            None => Some(ALLOCATION_PERIOD),
            Some((_, bytes)) => bytes.parse().ok().filter(|b| *b > 0),
        }
    }
    /// Reads a header. `Err` if there is none or one of a format that is not known.
    pub(crate) fn read(source: &mut Source<'_>) -> Result<Header, Error> {
        let mut bytes = Vec::new();
        source.fill(&mut bytes, FIXED as u64);
        let fixed: [u8; FIXED] = bytes.as_slice().try_into().map_err(|_| {
            let why = source
                .trouble()
                .map(|t| format!(" ({t})"))
                .unwrap_or_default();
            match bytes.is_empty() {
                true => Error::NoRecording(format!("it is empty{why}")),
                false => Error::NoRecording(format!("it ends within the header{why}")),
            }
        })?;
        let number = |at: usize, len: usize| {
            (0..len).fold(0u64, |n, i| n | u64::from(fixed[at + i]) << (8 * i))
        };
        let refuse = |text: String| Err(Error::NoRecording(text));
        if number(0, 4) != u64::from(ID) {
            return refuse("it does not begin as one".into());
        }
        let mut header = Header {
            profiler: (fixed[4], fixed[5]),
            format: fixed[6],
            pointer: fixed[7],
            start_ms: number(8, 8),
            start_ns: number(16, 8),
            timer_ns: number(24, 4) as u32,
            pid: number(32, 4) as u32,
            port: number(36, 2) as u16,
            ..Header::default()
        };
        if !matches!(header.format, 16 | 17) || header.profiler.0 < 3 {
            let (major, minor) = header.profiler;
            return refuse(format!(
                "its format is version {} of profiler {major}.{minor}; 16 and 17 of profiler 3 can be read",
                header.format
            ));
        }
        if !matches!(header.pointer, 4 | 8) {
            return refuse(format!(
                "it says that a pointer has {} bytes",
                header.pointer
            ));
        }
        if number(28, 4) != 0 {
            return refuse(format!(
                "the header has flags {:#x}, which are not known",
                number(28, 4)
            ));
        }
        for text in [
            &mut header.arguments,
            &mut header.architecture,
            &mut header.system,
        ] {
            *text = read_text(source, &mut bytes)?;
        }
        Ok(header)
    }

    /// All bits of a pointer.
    pub(crate) fn mask(&self) -> u64 {
        match self.pointer {
            4 => u64::from(u32::MAX),
            _ => u64::MAX,
        }
    }
}

fn read_text(source: &mut Source<'_>, bytes: &mut Vec<u8>) -> Result<String, Error> {
    let ends = || Error::NoRecording("it ends within the header".into());
    source.fill(bytes, 4);
    let len = bytes
        .as_slice()
        .try_into()
        .map(u32::from_le_bytes)
        .map_err(|_| ends())?;
    if len > LONGEST {
        return Err(Error::NoRecording(format!(
            "a text of the header has {len} bytes"
        )));
    }
    source.fill(bytes, u64::from(len));
    if bytes.len() != len as usize {
        return Err(ends());
    }
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_of_sampled_allocations_is_in_the_arguments() {
        for (arguments, period) in [
            ("log:allocsample", Some(512 << 10)),
            ("log:nodefaults,allocsample=1000,gc", Some(1000)),
            ("log:allocsample=5,allocsample=7", Some(7)),
            ("log:allocsample=x", None),
            ("log:allocsample,alloc", None),
            ("log:alloc,allocsample=9,nogcalloc", Some(9)),
            ("log:gcalloc", None),
            ("", None),
        ] {
            let header = Header {
                arguments: arguments.into(),
                ..Header::default()
            };
            assert_eq!(header.allocation_period(), period, "{arguments}");
        }
    }
}
