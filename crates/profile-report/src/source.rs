//! The bytes of a recording: a file or a stream, unpacked if gzip packed it.
//!
//! # Invariants
//! * Reading never fails: what cannot be read or unpacked is the end, and [`Source::trouble`] says why.
//! * Memory grows with what is there, never with what a length claims.
use flate2::read::MultiGzDecoder;
use std::io::{BufReader, Cursor, Read};

/// A stream that counts what was read.
pub(crate) struct Source<'r> {
    stream: Box<dyn Read + 'r>,
    at: u64,
    trouble: Option<String>,
}

impl<'r> Source<'r> {
    /// Looks at the first two bytes and unpacks the rest if they are gzip's.
    pub(crate) fn new(mut input: impl Read + 'r) -> Source<'r> {
        let mut first = Vec::new();
        let looked = (&mut input).take(2).read_to_end(&mut first);
        let is_packed = first == [0x1F, 0x8B];
        let whole = Cursor::new(first).chain(input);
        let stream: Box<dyn Read + 'r> = match is_packed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(whole)))),
            false => Box::new(BufReader::new(whole)),
        };
        Source {
            stream,
            at: 0,
            trouble: looked.err().map(|e| e.to_string()),
        }
    }

    /// How many unpacked bytes have been read.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Replaces `bytes` by the next `count` ones, or by fewer at the end.
    pub(crate) fn fill(&mut self, bytes: &mut Vec<u8>, count: u64) {
        bytes.clear();
        if self.trouble.is_some() {
            return;
        }
        if let Err(e) = (&mut self.stream).take(count).read_to_end(bytes) {
            self.trouble = Some(e.to_string());
        }
        self.at += bytes.len() as u64;
    }

    /// Why the stream ended early, if it was not just its end.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn packed(data: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(data).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn what_gzip_packed_is_unpacked_and_its_members_follow_each_other() {
        let both = [packed(b"first "), packed(b"second")].concat();
        for (input, is) in [
            (both.as_slice(), &b"first second"[..]),
            (b"plain", b"plain"),
            (b"", b""),
        ] {
            let (mut source, mut bytes) = (Source::new(input), Vec::new());
            source.fill(&mut bytes, u64::MAX);
            assert_eq!((bytes.as_slice(), source.trouble()), (is, None));
            assert_eq!(source.position(), is.len() as u64);
        }
    }

    #[test]
    fn a_stream_cut_off_gives_what_was_unpacked_and_says_so() {
        let data: Vec<u8> = (0..100_000u32)
            .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
            .collect();
        let whole = packed(&data);
        let (mut source, mut bytes) = (Source::new(&whole[..whole.len() / 2]), Vec::new());
        source.fill(&mut bytes, u64::MAX);
        assert!(bytes.len() > 1000 && data.starts_with(&bytes));
        assert!(source.trouble().is_some());
    }
}
