//! The bytes of the file: its header, and buffers of events.
//!
//! # Invariants
//! * All events of a buffer belong to one thread. Pointers, objects, methods and times are differences from what stands in the head of the
//!   buffer or came before; a buffer begins its own differences.
//! * Numbers of fixed width are little-endian; all others are LEB128 (the format of mono's log profiler, data version 17).

/// Bytes before the events of a buffer.
const HEAD: usize = 48;
const FILE_ID: u32 = 0x4D50_5A01;
const BUFFER_ID: u32 = 0x4D50_4C01;

/// What the header of a file says.
pub struct Header<'a> {
    /// Milliseconds since 1970.
    pub start_ms: u64,
    /// The same moment by CLOCK_MONOTONIC, in nanoseconds.
    pub start_ns: u64,
    /// What it costs to read the clock, in nanoseconds.
    pub timer_ns: u32,
    /// The process.
    pub pid: u32,
    /// The port that takes commands; 0: none.
    pub port: u16,
    /// What stood behind `--profile=`.
    pub arguments: &'a str,
}

impl Header<'_> {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(FILE_ID.to_le_bytes());
        // Version 3.0 of the profiler, version 17 of the data, 8 bytes a pointer.
        out.extend([3, 0, 17, 8]);
        out.extend(self.start_ms.to_le_bytes());
        out.extend(self.start_ns.to_le_bytes());
        out.extend(self.timer_ns.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend(self.pid.to_le_bytes());
        out.extend(self.port.to_le_bytes());
        for text in [self.arguments, "x86-64", "linux"] {
            out.extend((text.len() as u32 + 1).to_le_bytes());
            out.extend(text.as_bytes());
            out.push(0);
        }
        out
    }
}

/// Appends ULEB128.
pub fn uleb(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7F) as u8;
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// Appends SLEB128.
pub fn sleb(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = (value & 0x7F) as u8;
        value >>= 7;
        if (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0) {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// A buffer that events are appended to.
pub struct Buffer {
    thread: u64,
    bytes: Vec<u8>,
    time_base: Option<u64>,
    last_time: u64,
    ptr_base: Option<u64>,
    obj_base: Option<u64>,
    method_base: Option<u64>,
    last_method: u64,
}

impl Buffer {
    /// An empty one.
    pub const fn new(thread: u64) -> Buffer {
        Buffer {
            thread,
            bytes: Vec::new(),
            time_base: None,
            last_time: 0,
            ptr_base: None,
            obj_base: None,
            method_base: None,
            last_method: 0,
        }
    }
    /// Bytes of its events.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
    /// The thread its events belong to.
    pub fn thread(&self) -> u64 {
        self.thread
    }
    /// Has it no event?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    /// Begins an event.
    pub fn event(&mut self, kind: u8, time_ns: u64) -> &mut Buffer {
        if self.time_base.is_none() {
            self.time_base = Some(time_ns);
            self.last_time = time_ns;
        }
        self.bytes.push(kind);
        let difference = time_ns.wrapping_sub(self.last_time);
        self.last_time = time_ns;
        self.uleb(difference)
    }
    /// One byte.
    pub fn byte(&mut self, value: u8) -> &mut Buffer {
        self.bytes.push(value);
        self
    }
    /// A number without sign.
    pub fn uleb(&mut self, value: u64) -> &mut Buffer {
        uleb(&mut self.bytes, value);
        self
    }
    /// A number with a sign.
    pub fn sleb(&mut self, value: i64) -> &mut Buffer {
        sleb(&mut self.bytes, value);
        self
    }
    /// A string; it ends with the first zero that it has.
    pub fn string(&mut self, text: &str) -> &mut Buffer {
        let text = text.split('\0').next().unwrap_or("");
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        self
    }
    /// A double.
    pub fn double(&mut self, value: f64) -> &mut Buffer {
        self.bytes.extend(value.to_le_bytes());
        self
    }
    /// A pointer.
    pub fn pointer(&mut self, address: u64) -> &mut Buffer {
        let base = *self.ptr_base.get_or_insert(address);
        self.sleb(address.wrapping_sub(base) as i64)
    }
    /// An object.
    pub fn object(&mut self, address: u64) -> &mut Buffer {
        let shifted = address >> 3;
        let base = *self.obj_base.get_or_insert(shifted);
        self.sleb(shifted.wrapping_sub(base) as i64)
    }
    /// A method.
    pub fn method(&mut self, id: u64) -> &mut Buffer {
        let last = match self.method_base {
            Some(_) => self.last_method,
            None => *self.method_base.insert(id),
        };
        self.last_method = id;
        self.sleb(id.wrapping_sub(last) as i64)
    }
    /// A backtrace.
    pub fn backtrace(&mut self, methods: impl ExactSizeIterator<Item = u64>) -> &mut Buffer {
        self.uleb(methods.len() as u64);
        for m in methods {
            self.method(m);
        }
        self
    }
    /// The whole buffer: its head, then the events.
    pub fn finish(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + self.bytes.len());
        out.extend(BUFFER_ID.to_le_bytes());
        out.extend((self.bytes.len() as u32).to_le_bytes());
        for word in [
            self.time_base.unwrap_or(0),
            self.ptr_base.unwrap_or(0),
            self.obj_base.unwrap_or(0),
            self.thread,
            self.method_base.unwrap_or(0),
        ] {
            out.extend(word.to_le_bytes());
        }
        out.extend(self.bytes);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_sleb(bytes: &[u8]) -> (i64, usize) {
        let (mut value, mut shift, mut at) = (0i64, 0, 0);
        loop {
            let b = bytes[at];
            at += 1;
            value |= i64::from(b & 0x7F) << shift;
            shift += 7;
            if b & 0x80 == 0 {
                if shift < 64 && b & 0x40 != 0 {
                    value |= -1 << shift;
                }
                return (value, at);
            }
        }
    }

    #[test]
    fn numbers_as_the_format_wants_them() {
        let mut out = Vec::new();
        uleb(&mut out, 0);
        uleb(&mut out, 127);
        uleb(&mut out, 128);
        uleb(&mut out, u64::MAX);
        assert_eq!(out[..4], [0, 127, 0x80, 1]);
        assert_eq!(out.len(), 4 + 10);
        for value in [
            0,
            1,
            -1,
            63,
            64,
            -64,
            -65,
            i64::MAX,
            i64::MIN,
            0x7fff_1234_5678,
        ] {
            let mut out = Vec::new();
            sleb(&mut out, value);
            assert_eq!(read_sleb(&out), (value, out.len()));
        }
    }

    #[test]
    fn a_buffer_says_what_its_differences_begin_with() {
        let mut b = Buffer::new(0x77);
        b.event(0x11, 1000).byte(0).byte(1);
        b.event(0x00, 1500).pointer(0x5000).object(0x8000).uleb(24);
        b.event(0x13, 1501).method(0x9000).method(0x9010);
        let bytes = b.finish();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(bytes[..4], [1, 0x4C, 0x50, 0x4D]);
        assert_eq!(
            u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize,
            bytes.len() - 48
        );
        assert_eq!(
            [word(8), word(16), word(24), word(32), word(40)],
            [1000, 0x5000, 0x1000, 0x77, 0x9000]
        );
        assert_eq!(
            bytes[48..],
            [0x11, 0, 0, 1, 0, 0xF4, 3, 0, 0, 24, 0x13, 1, 0, 0x10]
        );
    }

    #[test]
    fn null_is_an_object_as_any() {
        let mut b = Buffer::new(1);
        b.event(4, 0).object(0).object(0x4000);
        let bytes = b.finish();
        // The base is 0 and stays so: the second object is its whole value.
        assert_eq!(u64::from_le_bytes(bytes[24..32].try_into().unwrap()), 0);
        let mut b = Buffer::new(1);
        b.event(4, 0).object(0x4000).object(0);
        let bytes = b.finish();
        assert_eq!(u64::from_le_bytes(bytes[24..32].try_into().unwrap()), 0x800);
        assert_eq!(read_sleb(&bytes[51..]).0, -0x800);
    }

    #[test]
    fn a_header_has_its_texts_behind_it() {
        let bytes = Header {
            start_ms: 5,
            start_ns: 6,
            timer_ns: 7,
            pid: 8,
            port: 0,
            arguments: "log:gc",
        }
        .bytes();
        assert_eq!(bytes[..8], [1, 0x5A, 0x50, 0x4D, 3, 0, 17, 8]);
        assert_eq!(
            bytes[38..49],
            [7, 0, 0, 0, b'l', b'o', b'g', b':', b'g', b'c', 0]
        );
    }
}
