//! Recordings made in code: what tests and fuzz targets read.
//!
//! # Invariants
//! What is made here is what the format says, unless bytes are appended raw. Nothing here is taken from the recorder: the two are checked
//! against each other.

/// Appends ULEB128.
pub fn uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends SLEB128.
pub fn sleb(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let low = value as u8 & 0x7F;
        value >>= 7;
        if (value == 0 && low < 0x40) || (value == -1 && low >= 0x40) {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// The header of a recording with these arguments.
pub fn header(arguments: &str) -> Vec<u8> {
    let mut out = 0x4D50_5A01u32.to_le_bytes().to_vec();
    out.extend([3, 0, 17, 8]);
    out.extend(1_795_574_641_000u64.to_le_bytes());
    out.extend(1_000u64.to_le_bytes());
    out.extend([0; 8]);
    out.extend(4242u32.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    for text in [arguments, "x86-64", "linux"] {
        out.extend((text.len() as u32 + 1).to_le_bytes());
        out.extend(text.as_bytes());
        out.push(0);
    }
    out
}

/// A buffer of events. Bases are not 0, so that a reader that forgets them is wrong.
pub struct Buffer {
    thread: u64,
    first: Option<u64>,
    time: u64,
    method: u64,
    bytes: Vec<u8>,
}

const POINTER: u64 = 0x7000_0000;
const OBJECT: u64 = 0x1000_0000;
const METHOD: u64 = 0x5000;

impl Buffer {
    /// An empty one.
    pub fn new(thread: u64) -> Buffer {
        Buffer {
            thread,
            first: None,
            time: 0,
            method: METHOD,
            bytes: Vec::new(),
        }
    }
    /// Begins an event, at a time in nanoseconds.
    pub fn event(&mut self, kind: u8, time: u64) -> &mut Buffer {
        if self.first.is_none() {
            (self.first, self.time) = (Some(time), time);
        }
        self.bytes.push(kind);
        uleb(&mut self.bytes, time.wrapping_sub(self.time));
        self.time = time;
        self
    }
    /// A byte.
    pub fn byte(&mut self, value: u8) -> &mut Buffer {
        self.bytes.push(value);
        self
    }
    /// A number.
    pub fn number(&mut self, value: u64) -> &mut Buffer {
        uleb(&mut self.bytes, value);
        self
    }
    /// A number that may be negative.
    pub fn signed(&mut self, value: i64) -> &mut Buffer {
        sleb(&mut self.bytes, value);
        self
    }
    /// A pointer.
    pub fn pointer(&mut self, value: u64) -> &mut Buffer {
        self.signed(value.wrapping_sub(POINTER) as i64)
    }
    /// The address of an object.
    pub fn object(&mut self, value: u64) -> &mut Buffer {
        self.signed((value >> 3).wrapping_sub(OBJECT) as i64)
    }
    /// A method.
    pub fn method(&mut self, value: u64) -> &mut Buffer {
        let difference = value.wrapping_sub(self.method) as i64;
        self.method = value;
        self.signed(difference)
    }
    /// A floating-point number.
    pub fn bytes_of(&mut self, value: f64) -> &mut Buffer {
        self.bytes.extend(value.to_le_bytes());
        self
    }
    /// A text.
    pub fn text(&mut self, value: &str) -> &mut Buffer {
        self.bytes.extend(value.as_bytes());
        self.byte(0)
    }
    /// A backtrace.
    pub fn frames(&mut self, frames: &[u64]) -> &mut Buffer {
        self.number(frames.len() as u64);
        for frame in frames {
            self.method(*frame);
        }
        self
    }
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = 0x4D50_4C01u32.to_le_bytes().to_vec();
        out.extend((self.bytes.len() as u32).to_le_bytes());
        for base in [
            self.first.unwrap_or(0),
            POINTER,
            OBJECT,
            self.thread,
            METHOD,
        ] {
            out.extend(base.to_le_bytes());
        }
        out.extend(&self.bytes);
        out
    }
}

/// Puts the lengths of buffers right, as far as there are buffers, so that damage reaches what is in them.
pub fn repair(data: &mut [u8]) {
    let id = 0x4D50_4C01u32.to_le_bytes();
    let starts: Vec<usize> = data
        .windows(4)
        .enumerate()
        .filter(|(_, w)| **w == id)
        .map(|(at, _)| at)
        .collect();
    for (at, start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(data.len());
        if let Some(len) = data.get_mut(start + 4..start + 8) {
            len.copy_from_slice(&(end.saturating_sub(start + 48) as u32).to_le_bytes());
        }
    }
}

/// A method of [`small`], by its name's first letters.
const MAIN: u64 = 0x5100;
const WORK: u64 = 0x5200;
const INNER: u64 = 0x5300;
const ENTER: u64 = 0x5400;

/// A recording in which a bit of everything happens: see the tests that read it for what that is.
pub fn small() -> Vec<u8> {
    let mut out = header("log:sample=1000,alloc,monitor,gchandle");
    for buffer in [
        small_names(),
        small_main(),
        small_samples(),
        small_shot(),
        small_counters(),
    ] {
        out.extend(buffer.bytes());
    }
    out
}

fn small_names() -> Buffer {
    let mut names = Buffer::new(9);
    for (at, (method, name)) in [
        (MAIN, "Program:Main (string[])"),
        (WORK, "Program:Work (int)"),
        (INNER, "System.Text.StringBuilder:Append (string)"),
        (
            ENTER,
            "(wrapper managed-to-native) System.Threading.Monitor:Enter (object)",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let code = 0x40_0000 + at as u64 * 0x100;
        names
            .event(0x43, 500)
            .method(method)
            .pointer(code)
            .number(0x80)
            .text(name);
    }
    names
        .event(0x22, 1_000)
        .byte(1)
        .pointer(0x6000)
        .pointer(0x1)
        .text("System.String");
    names
        .event(0x22, 1_000)
        .byte(7)
        .pointer(0x6100)
        .pointer(0)
        .pointer(0x6000);
    names
        .event(0x22, 1_000)
        .byte(1)
        .pointer(0x6200)
        .pointer(0x1)
        .text("System.InvalidOperationException");
    names
        .event(0x22, 1_000)
        .byte(7)
        .pointer(0x6300)
        .pointer(0)
        .pointer(0x6200);
    names
        .event(0x22, 1_000)
        .byte(3)
        .pointer(0x6400)
        .pointer(0x1)
        .text("program, Version=0.0.0.0");
    names
        .event(0x17, 1_000)
        .pointer(0x7F00_0000)
        .number(0)
        .text("memset");
    names
}

fn small_main() -> Buffer {
    let mut main = Buffer::new(1);
    main.event(0x22, 2_000).byte(5).pointer(1);
    main.event(0x02, 2_000).byte(5).pointer(1).text("Main");
    for n in 0..4 {
        main.event(0x10, 3_000 + n)
            .pointer(0x6100)
            .object(0x8000_0000 + n * 32)
            .number(32)
            .frames(&[MAIN, WORK]);
    }
    main.event(0x10, 4_000)
        .pointer(0x6300)
        .object(0x8000_1000)
        .number(64)
        .frames(&[MAIN]);
    main.event(0x84, 4_100).object(0x8000_1000).frames(&[MAIN]);
    main.event(0x14, 4_200)
        .byte(0)
        .number(0)
        .method(MAIN)
        .object(0x8000_1000);
    main.event(0x85, 5_000)
        .byte(1)
        .object(0x8000_0000)
        .frames(&[MAIN, WORK, ENTER]);
    main.event(0x85, 2_005_000)
        .byte(2)
        .object(0x8000_0000)
        .frames(&[MAIN, WORK, ENTER]);
    main.event(0x61, 2_006_000)
        .number(2)
        .number(17)
        .object(0x8000_0000)
        .frames(&[MAIN]);
    main.event(0x61, 2_007_000)
        .number(0)
        .number(18)
        .object(0x8000_0000)
        .frames(&[MAIN]);
    main.event(0x51, 2_008_000).number(0).number(18);
    let start = 3_000_000;
    for (phase, time) in [
        (6, 0),
        (10, 10),
        (7, 100_000),
        (0, 110_000),
        (5, 600_000),
        (8, 610_000),
        (9, 700_000),
        (11, 700_010),
    ] {
        main.event(0x11, start + time).byte(phase).byte(0);
        if phase == 0 {
            main.event(0x31, start + 200_000)
                .number(2)
                .object(0x8000_0000)
                .object(0x9000_0000);
        }
    }
    main.event(0x21, 3_900_000).number(4 << 20);
    main
}

fn small_samples() -> Buffer {
    let mut dumper = Buffer::new(8);
    for n in 0..10u64 {
        // 6 in Work, 3 in what it calls, 1 in a native function below Main.
        let (address, frames): (u64, &[u64]) = match n {
            0..6 => (0x40_0110, &[WORK, MAIN]),
            6..9 => (0x40_0210, &[INNER, WORK, MAIN]),
            _ => (0x7F00_0010, &[MAIN]),
        };
        dumper
            .event(0x07, 4_000_000 + n * 1_000_000)
            .pointer(1)
            .number(1)
            .pointer(address)
            .frames(frames);
    }
    dumper.event(0x0A, 20_000_000).byte(0);
    dumper
}

fn small_shot() -> Buffer {
    let mut shot = Buffer::new(1);
    shot.event(0x06, 21_000_000);
    shot.event(0x36, 21_000_100)
        .number(1)
        .pointer(0x100)
        .object(0x9000_0000);
    shot.event(0x26, 21_000_200)
        .object(0x9000_0000)
        .pointer(0x6100)
        .number(32)
        .byte(1)
        .number(1)
        .number(8)
        .object(0x8000_1000);
    shot.event(0x26, 21_000_300)
        .object(0x8000_1000)
        .pointer(0x6300)
        .number(64)
        .byte(0)
        .number(0);
    shot.event(0x16, 21_000_400);
    shot
}

fn small_counters() -> Buffer {
    let mut counters = Buffer::new(7);
    counters.event(0x37, 22_000_000).number(2);
    counters
        .number(1 << 14)
        .text("Working Set")
        .number(3)
        .number(1 << 24)
        .number(1 << 30)
        .number(1);
    counters
        .number(1 << 15)
        .text("Pages")
        .text("Faults")
        .number(3)
        .number(0)
        .number(1 << 30)
        .number(2);
    for _ in 0..2 {
        counters
            .event(0x47, 23_000_000)
            .number(1)
            .number(3)
            .signed(1 << 20)
            .number(2)
            .number(3)
            .signed(7)
            .number(0);
    }
    counters
}
