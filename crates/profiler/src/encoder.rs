//! From records and samples to buffers of the file.
//!
//! Each thread has an open buffer. The writer's own buffer gets definitions (images, classes, VTables, methods), samples and counters.
//!
//! # Invariants
//! * What an event names is defined before it in the file: a buffer is written behind the writer's own, which has the definitions.
//! * A thread is announced by the first event of its buffers, whoever recorded its start.
//! * Backtraces of events stand outermost frame first, those of samples innermost first.
use crate::encode::Buffer;
use crate::host::{Counter, CounterValue, Host};
use crate::record::{Kind, Record};
use crate::roots::{self, Ranges, source};
use crate::sample::{FrameWord, OFF_CPU, REASON, Sample, thread_id};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes of a buffer that is written, though the time to write has not come.
const LARGE: usize = 64 << 10;
/// Where hits of waits of kind 0 lie, and how far apart the kinds are. No process has memory there.
const WAITS: u64 = 0x1000;
/// How far readers believe in a symbol.
const BLOCK: u64 = 4096;
/// The id of the writer's thread, apart from all others.
pub const WRITER: u64 = 1 << 41;

/// Kinds of metadata.
mod metadata {
    pub const CLASS: u8 = 1;
    pub const IMAGE: u8 = 2;
    pub const ASSEMBLY: u8 = 3;
    pub const DOMAIN: u8 = 4;
    pub const THREAD: u8 = 5;
    pub const CONTEXT: u8 = 6;
    pub const VTABLE: u8 = 7;
}
const LOAD: u8 = 0x22;
const UNLOAD: u8 = 0x42;
const NAME: u8 = 0x02;

/// See the module.
pub struct Encoder<H> {
    host: H,
    own: Buffer,
    open: FxHashMap<u64, Buffer>,
    /// Threads that were announced and have not ended.
    live: FxHashSet<u64>,
    /// Images, assemblies, classes and VTables that are defined.
    defined: FxHashSet<u64>,
    /// Methods that are defined, and whether with code.
    methods: FxHashMap<u64, bool>,
    frames: FxHashMap<FrameWord, Box<[u64]>>,
    /// Addresses that were hit, and those that symbols were written for.
    symbols: FxHashSet<u64>,
    /// The last values of counters.
    counters: Vec<CounterValue>,
    /// Whole buffers that have not been written.
    done: Vec<u8>,
    /// For a backtrace.
    trace: Vec<u64>,
    heap_size: u64,
    /// Memory with roots.
    ranges: Ranges,
}

impl<H: Host> Encoder<H> {
    /// An encoder without events.
    pub fn new(host: H) -> Self {
        Encoder {
            host,
            own: Buffer::new(WRITER),
            open: FxHashMap::default(),
            live: FxHashSet::default(),
            defined: FxHashSet::default(),
            methods: FxHashMap::default(),
            frames: FxHashMap::default(),
            symbols: FxHashSet::default(),
            counters: Vec::new(),
            done: Vec::new(),
            trace: Vec::new(),
            heap_size: 0,
            ranges: Ranges::default(),
        }
    }

    /// The first events: the root domain, its context, and the thread that writes.
    pub fn begin(&mut self, time_ns: u64) {
        let own = &mut self.own;
        own.event(LOAD, time_ns).byte(metadata::DOMAIN).pointer(0);
        own.event(LOAD, time_ns)
            .byte(metadata::CONTEXT)
            .pointer(0)
            .pointer(0);
        own.event(LOAD, time_ns)
            .byte(metadata::THREAD)
            .pointer(WRITER);
        own.event(NAME, time_ns)
            .byte(metadata::THREAD)
            .pointer(WRITER)
            .string("Profiler Writer");
    }

    /// Are counters recorded?
    pub fn has_counters(&self) -> bool {
        self.host.has_counters()
    }
    /// Bytes that wait to be written.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.done)
    }
    /// How many they are.
    pub fn waiting(&self) -> usize {
        self.done.len()
    }

    /// Closes all buffers, and writes a sync point of that kind behind them: all events of the time before `time_ns` are older.
    pub fn sync(&mut self, kind: u8, time_ns: u64) {
        self.close_own();
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_unstable_by_key(Buffer::thread);
        for buffer in open {
            self.done.extend(buffer.finish());
        }
        self.own.event(0x0A, time_ns).byte(kind);
        self.close_own();
    }
    fn close_own(&mut self) {
        let own = std::mem::replace(&mut self.own, Buffer::new(WRITER));
        if !own.is_empty() {
            self.done.extend(own.finish());
        }
    }
    fn close_large(&mut self, thread: u64) {
        if self.open.get(&thread).is_some_and(|b| b.len() >= LARGE) {
            self.close_own();
            self.done
                .extend(self.open.remove(&thread).map_or(Vec::new(), Buffer::finish));
        }
    }

    /// The last events: the threads end.
    pub fn end(&mut self, time_ns: u64) {
        let mut live: Vec<u64> = self.live.drain().collect();
        live.sort_unstable();
        for thread in live {
            let buffer = self
                .open
                .entry(thread)
                .or_insert_with(|| Buffer::new(thread));
            buffer
                .event(UNLOAD, time_ns)
                .byte(metadata::THREAD)
                .pointer(thread);
        }
        self.own
            .event(UNLOAD, time_ns)
            .byte(metadata::THREAD)
            .pointer(WRITER);
    }

    fn define_image(&mut self, image: u64, time_ns: u64) {
        if self.defined.insert(image) {
            let (file, guid) = self.host.image(image);
            let own = self.own.event(LOAD, time_ns).byte(metadata::IMAGE);
            own.pointer(image).string(&file).string(&guid);
        }
    }
    fn define_assembly(&mut self, assembly: u64, time_ns: u64) {
        if self.defined.insert(assembly) {
            let (image, name) = self.host.assembly(assembly);
            self.define_image(image, time_ns);
            let own = self.own.event(LOAD, time_ns).byte(metadata::ASSEMBLY);
            own.pointer(assembly).pointer(image).string(&name);
        }
    }
    /// An assembly was unloaded. Another life of its domain may load it again. (That of its image is not told: the readers do not agree on what stands in that
    /// event.)
    fn end_assembly(&mut self, assembly: u64, time_ns: u64) {
        if self.defined.remove(&assembly) {
            let (image, name) = self.host.assembly(assembly);
            let own = self.own.event(UNLOAD, time_ns).byte(metadata::ASSEMBLY);
            own.pointer(assembly).pointer(image).string(&name);
        }
    }
    fn define_class(&mut self, class: u64, time_ns: u64) {
        if self.defined.insert(class) {
            let (image, name) = self.host.class(class);
            self.define_image(image, time_ns);
            let own = self.own.event(LOAD, time_ns).byte(metadata::CLASS);
            own.pointer(class).pointer(image).string(&name);
        }
    }
    fn define_vtable(&mut self, vtable: u64, time_ns: u64) {
        if self.defined.insert(vtable) {
            let (domain, class) = self.host.class_of(vtable);
            self.define_class(class, time_ns);
            let own = self.own.event(LOAD, time_ns).byte(metadata::VTABLE);
            own.pointer(vtable).pointer(domain).pointer(class);
            if let Some((start, bytes)) = self.host.statics_of(vtable) {
                let range = roots::Range {
                    start,
                    bytes,
                    source: source::STATIC,
                    key: vtable,
                };
                self.range(range, time_ns);
            }
        }
    }
    /// There are roots in a range of memory.
    fn range(&mut self, range: roots::Range, time_ns: u64) {
        let Some(gone) = self.ranges.tell(range) else {
            return;
        };
        self.ranges_end(&gone, time_ns);
        let own = self.own.event(0x46, time_ns).pointer(range.start);
        own.uleb(range.bytes).byte(range.source).pointer(range.key);
        own.string(source::name(range.source));
    }
    fn ranges_end(&mut self, starts: &[u64], time_ns: u64) {
        for start in starts {
            self.own.event(0x56, time_ns).pointer(*start);
        }
    }
    /// What is not in a range that was told is a word that a domain keeps.
    fn cover(&mut self, slot: u64, time_ns: u64) {
        if !self.ranges.covers(slot) {
            let range = roots::Range {
                start: slot,
                bytes: 8,
                source: source::DOMAIN,
                key: 0,
            };
            self.range(range, time_ns);
        }
    }
    fn define_method(&mut self, id: u64, time_ns: u64) {
        if !self.methods.contains_key(&id) {
            let method = self.host.method(id);
            self.methods.insert(id, method.code != 0);
            self.write_method(id, &method, time_ns);
        }
    }
    fn define_code(&mut self, code: u64, time_ns: u64) {
        let (id, method) = self.host.code(code);
        if self.methods.insert(id, true) != Some(true) {
            self.write_method(id, &method, time_ns);
        }
    }
    /// Code that is no method's.
    fn code_buffer(&mut self, (at, bytes): (u64, u64), name: &str, time_ns: u64) {
        /// Code for one purpose, which its name says.
        const SPECIFIC: u8 = 5;
        let own = self.own.event(0x18, time_ns).byte(SPECIFIC);
        own.pointer(at).uleb(bytes).string(name);
    }
    fn write_method(&mut self, id: u64, method: &crate::host::Method, time_ns: u64) {
        let own = self.own.event(0x43, time_ns).method(id);
        own.pointer(method.code)
            .uleb(method.size)
            .string(&method.name);
    }

    /// The methods of frames, innermost first, defined: in `trace`.
    fn trace(&mut self, frames: impl Iterator<Item = FrameWord>, time_ns: u64) {
        let mut trace = std::mem::take(&mut self.trace);
        let most = self.host.max_frames();
        trace.clear();
        for frame in frames {
            if trace.len() >= most {
                break;
            }
            match self.frames.get(&frame) {
                Some(methods) => trace.extend_from_slice(methods),
                None => {
                    let from = trace.len();
                    self.host.methods(frame, &mut trace);
                    for id in &trace[from..] {
                        self.define_method(*id, time_ns);
                    }
                    self.frames.insert(frame, trace[from..].into());
                }
            }
        }
        trace.truncate(most);
        self.trace = trace;
    }

    /// The open buffer of a record's thread, which is announced.
    fn buffer(&mut self, record: &Record<'_>) -> &mut Buffer {
        let (thread, time) = (record.thread(), record.time_ns());
        if thread == WRITER {
            return &mut self.own;
        }
        let buffer = self
            .open
            .entry(thread)
            .or_insert_with(|| Buffer::new(thread));
        if self.live.insert(thread) {
            buffer
                .event(LOAD, time)
                .byte(metadata::THREAD)
                .pointer(thread);
        }
        buffer
    }

    /// Takes a record in.
    pub fn record(&mut self, record: Record<'_>) {
        let (kind, time, p) = (record.kind(), record.time_ns(), record.payload());
        match kind {
            Kind::Assembly => self.define_assembly(p[0], time),
            Kind::VTable => self.define_vtable(p[0], time),
            Kind::Code => {
                self.define_code(p[0], time);
                if record.extra() != 0 && self.defined.insert(p[0]) {
                    let method = self.host.code(p[0]).1;
                    self.code_buffer((method.code, method.size), &method.name, time);
                }
            }
            Kind::Stub => self.code_buffer((p[0], p[1]), &record.text(2), time),
            Kind::Sync => self.sync(record.extra() as u8, time),
            Kind::AssemblyEnd => self.end_assembly(p[0], time),
            // The root domain is there from the first event on.
            Kind::Domain if p[0] != 0 => {
                let own = self.own.event(LOAD, time).byte(metadata::DOMAIN);
                own.pointer(p[0]);
                let own = self.own.event(LOAD, time).byte(metadata::CONTEXT);
                own.pointer(0).pointer(p[0]);
            }
            Kind::Domain => {}
            Kind::DomainEnd => {
                let own = self.own.event(UNLOAD, time).byte(metadata::CONTEXT);
                own.pointer(0).pointer(p[0]);
                let own = self.own.event(UNLOAD, time).byte(metadata::DOMAIN);
                own.pointer(p[0]);
            }
            Kind::DomainName => {
                let own = self.own.event(NAME, time).byte(metadata::DOMAIN);
                own.pointer(p[0]).string(&record.text(1));
            }
            Kind::ThreadStart => {
                self.buffer(&record);
            }
            Kind::ThreadEnd => {
                let thread = record.thread();
                let buffer = self.buffer(&record);
                buffer
                    .event(UNLOAD, time)
                    .byte(metadata::THREAD)
                    .pointer(thread);
                self.live.remove(&thread);
                let gone = self.ranges.end_thread(thread);
                self.ranges_end(&gone, time);
            }
            Kind::ThreadName => {
                let (thread, name) = (record.thread(), record.text(0));
                let buffer = self.buffer(&record).event(NAME, time);
                buffer.byte(metadata::THREAD).pointer(thread).string(&name);
            }
            Kind::Alloc | Kind::HandleMade | Kind::HandleFreed | Kind::Throw | Kind::Monitor => {
                self.traced(record)
            }
            Kind::Clause | Kind::Enter | Kind::Leave | Kind::ExceptionLeave => {
                self.of_method(record)
            }
            _ => self.of_collector(record),
        }
        self.close_large(record.thread());
        if self.own.len() >= LARGE {
            self.close_own();
        }
    }

    /// Events with a backtrace.
    fn traced(&mut self, record: Record<'_>) {
        let (time, p) = (record.time_ns(), record.payload());
        let fixed = match record.kind() {
            Kind::Alloc | Kind::HandleMade => 3,
            Kind::HandleFreed => 2,
            _ => 1,
        };
        if record.kind() == Kind::Alloc {
            self.define_vtable(p[0], time);
        }
        let has_trace = p.len() > fixed && self.host.max_frames() > 0;
        if has_trace {
            self.trace(record.frames(fixed), time);
        }
        let trace = std::mem::take(&mut self.trace);
        let with = |kind: u8, more: u8| kind + if has_trace { more } else { 0 };
        let buffer = self.buffer(&record);
        match record.kind() {
            Kind::Alloc => {
                let size = p[2].next_multiple_of(8);
                buffer
                    .event(with(0, 0x10), time)
                    .pointer(p[0])
                    .object(p[1])
                    .uleb(size)
            }
            Kind::HandleMade => buffer
                .event(with(0x41, 0x20), time)
                .uleb(p[0])
                .uleb(p[1])
                .object(p[2]),
            Kind::HandleFreed => buffer.event(with(0x51, 0x20), time).uleb(p[0]).uleb(p[1]),
            Kind::Throw => buffer.event(with(0x04, 0x80), time).object(p[0]),
            _ => buffer
                .event(with(0x05, 0x80), time)
                .byte(record.extra() as u8)
                .object(p[0]),
        };
        if has_trace {
            buffer.backtrace(trace.iter().rev().copied());
        }
        self.trace = trace;
    }

    /// Events that name a method.
    fn of_method(&mut self, record: Record<'_>) {
        let (kind, time, p) = (record.kind(), record.time_ns(), record.payload());
        let method = if kind == Kind::Clause { p[2] } else { p[0] };
        self.define_method(method, time);
        let buffer = self.buffer(&record);
        match kind {
            Kind::Clause => {
                let event = buffer.event(0x14, time).byte(p[0] as u8).uleb(p[1]);
                event.method(method).object(p[3]);
            }
            Kind::Enter => {
                buffer.event(0x23, time).method(method);
            }
            Kind::Leave => {
                buffer.event(0x13, time).method(method);
            }
            _ => {
                buffer.event(0x33, time).method(method);
            }
        }
    }

    /// Events of the collector and of finalizers.
    fn of_collector(&mut self, record: Record<'_>) {
        let (kind, time, p) = (record.kind(), record.time_ns(), record.payload());
        match kind {
            Kind::GcResize if std::mem::replace(&mut self.heap_size, p[0]) == p[0] => return,
            Kind::ShotObject => self.define_vtable(p[1], time),
            Kind::Roots => {
                let slots = p.chunks_exact(2).map(|root| root[0]);
                slots.for_each(|slot| self.cover(slot, time));
            }
            Kind::RootRange => {
                let range = roots::Range {
                    start: p[0],
                    bytes: p[1],
                    source: record.extra() as u8,
                    key: p[2],
                };
                return self.range(range, time);
            }
            _ => {}
        }
        let extra = record.extra();
        let buffer = self.buffer(&record);
        match kind {
            Kind::GcPhase => {
                buffer
                    .event(0x11, time)
                    .byte(extra as u8)
                    .byte((extra >> 8) as u8);
            }
            Kind::GcResize => {
                buffer.event(0x21, time).uleb(p[0]);
            }
            Kind::Moves => {
                let event = buffer.event(0x31, time).uleb(p.len() as u64);
                for object in p {
                    event.object(*object);
                }
            }
            Kind::FinalizersBegin => {
                buffer.event(0x81, time);
            }
            Kind::FinalizersEnd => {
                buffer.event(0x91, time);
            }
            Kind::FinalizerBegin => {
                buffer.event(0xA1, time).object(p[0]);
            }
            Kind::FinalizerEnd => {
                buffer.event(0xB1, time).object(p[0]);
            }
            Kind::Roots => {
                let event = buffer.event(0x36, time).uleb(p.len() as u64 / 2);
                for root in p.chunks_exact(2) {
                    event.pointer(root[0]).object(root[1]);
                }
            }
            Kind::ShotBegin => {
                buffer.event(0x06, time);
            }
            Kind::ShotEnd => {
                buffer.event(0x16, time);
            }
            Kind::ShotObject => {
                let event = buffer.event(0x26, time).object(p[0]).pointer(p[1]);
                event.uleb(p[2].next_multiple_of(8)).byte(p[3] as u8);
                event.uleb((p.len() - 4) as u64 / 2);
                for reference in p[4..].chunks_exact(2) {
                    event.uleb(reference[0]).object(reference[1]);
                }
            }
            _ => unreachable!("an event of the collector"),
        }
    }

    /// Takes a sample in: as many hits as it has weight. A thread that was not interrupted is hit where its innermost managed frame goes on. One that waited is hit in
    /// a function that is named by what it waited for, whose address is none of the process.
    pub fn sample(&mut self, sample: &Sample<'_>) {
        let time = sample.time_ns;
        self.trace(sample.frames.iter().copied(), time);
        let waited = sample.flags & OFF_CPU != 0;
        let kind = (sample.flags >> REASON) as u8;
        let ip = match sample.ip {
            _ if waited => WAITS + u64::from(kind) * WAITS,
            0 => sample.frames.iter().find_map(|f| f.probe()).unwrap_or(0) as u64,
            ip => ip,
        };
        let trace = std::mem::take(&mut self.trace);
        let thread = thread_id(sample.thread, sample.green);
        let hits = match waited {
            false => sample.weight,
            true => {
                let us = u64::from(self.host.wait_us().max(1));
                ((u64::from(sample.weight) + us / 2) / us) as u32
            }
        };
        for _ in 0..hits.max(1) {
            let event = self
                .own
                .event(0x07, time)
                .pointer(thread)
                .uleb(1)
                .pointer(ip);
            event.backtrace(trace.iter().copied());
            if self.own.len() >= LARGE {
                self.close_own();
            }
        }
        self.trace = trace;
        if ip != 0
            && !self.symbols.contains(&ip)
            && let Some((start, name)) = match waited {
                true => Some((ip, self.host.wait(kind).to_owned())),
                false => self.host.symbol(ip),
            }
        {
            // Readers believe in a symbol for BLOCK bytes, whatever size it has. So a function has one for each block that is hit.
            let at = start.max(ip & !(BLOCK - 1));
            let is_new = self.symbols.insert(at);
            self.symbols.insert(ip);
            if is_new {
                self.own.event(0x17, time).pointer(at).uleb(0).string(&name);
            }
        }
        if self.own.len() >= LARGE {
            self.close_own();
        }
    }

    /// Writes the counters: what they are at the first time, then what has changed.
    pub fn counters(&mut self, time_ns: u64) {
        let counters = self.host.counters();
        if self.counters.is_empty() {
            describe(&mut self.own, &counters, time_ns);
        }
        let own = self.own.event(0x47, time_ns);
        for (at, counter) in counters.iter().enumerate() {
            let last = self.counters.get(at).copied();
            if last == Some(counter.value) {
                continue;
            }
            own.uleb(at as u64 + 1).uleb(kind_of(counter.value));
            match (counter.value, last) {
                (CounterValue::Long(v), Some(CounterValue::Long(l)))
                | (CounterValue::Time(v), Some(CounterValue::Time(l))) => {
                    own.sleb(v.wrapping_sub(l))
                }
                (CounterValue::Long(v) | CounterValue::Time(v), _) => own.sleb(v),
                (CounterValue::ULong(v), Some(CounterValue::ULong(l))) => {
                    own.uleb(v.wrapping_sub(l))
                }
                (CounterValue::ULong(v), _) => own.uleb(v),
                (CounterValue::Double(v), _) => own.double(v),
            };
        }
        own.uleb(0);
        self.counters = counters.into_iter().map(|c| c.value).collect();
    }
}

fn kind_of(value: CounterValue) -> u64 {
    match value {
        CounterValue::Long(_) => 3,
        CounterValue::ULong(_) => 4,
        CounterValue::Double(_) => 5,
        CounterValue::Time(_) => 7,
    }
}

fn describe(own: &mut Buffer, counters: &[Counter], time_ns: u64) {
    let event = own.event(0x37, time_ns).uleb(counters.len() as u64);
    for (at, counter) in counters.iter().enumerate() {
        event.uleb(u64::from(counter.section)).string(&counter.name);
        event
            .uleb(kind_of(counter.value))
            .uleb(u64::from(counter.unit));
        event.uleb(u64::from(counter.variance)).uleb(at as u64 + 1);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::encode::Header;
    use crate::host::Method;
    use crate::record::{HEAD, text_words};
    use crate::sample::FrameKind;
    use vervet_profile_report::{Filter, Recording, summary::Wanted};

    /// Methods are numbers; return address N is in method N, which has method N + 1 inlined if N is odd.
    pub(crate) struct Names;
    impl Host for Names {
        fn max_frames(&self) -> usize {
            32
        }
        fn wait(&self, kind: u8) -> &'static str {
            ["[waits]", "[waits for a monitor]"][usize::from(kind)]
        }
        fn wait_us(&self) -> u32 {
            1000
        }
        fn has_counters(&self) -> bool {
            false
        }
        fn methods(&mut self, frame: FrameWord, out: &mut Vec<u64>) {
            let n = frame.address() as u64;
            if n % 2 == 1 {
                out.push(n + 1);
            }
            out.push(n);
        }
        fn method(&mut self, id: u64) -> Method {
            Method {
                name: format!("N:M{id} ()"),
                code: 0,
                size: 0,
            }
        }
        fn code(&mut self, code: u64) -> (u64, Method) {
            let name = format!("N:M{code} ()");
            (
                code,
                Method {
                    name,
                    code: code * 0x1000,
                    size: 0x100,
                },
            )
        }
        fn class_of(&mut self, vtable: u64) -> (u64, u64) {
            (0, vtable + 1000)
        }
        fn statics_of(&mut self, vtable: u64) -> Option<(u64, u64)> {
            Some((vtable * 0x100, 16))
        }
        fn class(&mut self, class: u64) -> (u64, String) {
            (7000, format!("Class{class}"))
        }
        fn image(&mut self, _: u64) -> (String, String) {
            ("image.dll".into(), String::new())
        }
        fn assembly(&mut self, _: u64) -> (u64, String) {
            (7000, "image, Version=0.0.0.0".into())
        }
        fn symbol(&mut self, address: u64) -> Option<(u64, String)> {
            match address {
                0x10_0800..0x10_4000 => Some((0x10_0800, "large".into())),
                _ => Some((address & !0xF, "symbol".into())),
            }
        }
        fn counters(&mut self) -> Vec<Counter> {
            Vec::new()
        }
    }

    fn give(
        encoder: &mut Encoder<Names>,
        kind: Kind,
        extra: u32,
        (time, thread): (u64, u64),
        payload: &[u64],
    ) {
        let mut words = vec![
            Record::head(kind, extra, HEAD + payload.len()),
            time,
            thread,
        ];
        words.extend(payload);
        encoder.record(Record::read(&words));
    }

    fn summary(encoder: &mut Encoder<Names>) -> String {
        encoder.end(1_000_000);
        encoder.sync(0, 1_000_000);
        let header = Header {
            start_ms: 0,
            start_ns: 0,
            timer_ns: 0,
            pid: 1,
            port: 0,
            arguments: "log",
        };
        let bytes = [header.bytes(), encoder.take()].concat();
        let mut recording = Recording::read(&bytes[..], &Filter::default()).unwrap();
        let mut out = Vec::new();
        let wanted = Wanted {
            verbose: true,
            ..Wanted::default()
        };
        recording.summary(&mut out, &wanted).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_events_name_is_defined_before_them_whichever_thread_they_are_of() {
        let mut encoder = Encoder::new(Names);
        encoder.begin(0);
        let frame = FrameWord::new(5, FrameKind::Return).0;
        for n in 0..5000 {
            give(
                &mut encoder,
                Kind::Alloc,
                0,
                (10 + n, 100 + n % 3),
                &[50 + n % 2, 0x8000 + 8 * n, 20, frame],
            );
        }
        give(
            &mut encoder,
            Kind::ThreadName,
            0,
            (6000, 101),
            &text_words("Worker"),
        );
        give(
            &mut encoder,
            Kind::Monitor,
            1,
            (7000, 101),
            &[0x8000, frame],
        );
        give(
            &mut encoder,
            Kind::Monitor,
            2,
            (9000, 101),
            &[0x8000, frame],
        );
        let text = summary(&mut encoder);
        // Sizes are whole words.
        assert!(
            text.contains("5,000 objects") && text.contains("Class1050") && text.contains("60,000"),
            "{text}"
        );
        assert!(
            text.contains("N:M6 < N:M5") && !text.contains("unknown"),
            "{text}"
        );
        assert!(
            text.contains("Worker") && text.contains("1 waits"),
            "{text}"
        );
    }

    /// A sample of native code.
    fn hit(ip: u64) -> Sample<'static> {
        Sample {
            time_ns: 5,
            thread: 9,
            ip,
            weight: 1,
            flags: 0,
            green: 0,
            frames: &[],
        }
    }

    #[test]
    fn a_symbol_that_begins_where_the_sample_is_is_written() {
        let mut encoder = Encoder::new(Names);
        for ip in [0x9000, 0x9000, 0x9108] {
            encoder.sample(&hit(ip));
        }
        let text = summary(&mut encoder);
        assert!(
            text.contains("3  100.0 %           3  100.0 %  symbol"),
            "{text}"
        );
    }

    #[test]
    fn a_function_has_its_name_wherever_it_is_hit() {
        let mut encoder = Encoder::new(Names);
        for ip in [0x10_0900, 0x10_1801, 0x10_2000, 0x10_3FFF, 0x10_1000] {
            encoder.sample(&hit(ip));
        }
        let text = summary(&mut encoder);
        assert!(
            text.contains("5  100.0 %           5  100.0 %  large"),
            "{text}"
        );
    }

    #[test]
    fn a_wait_counts_by_its_length_in_a_function_named_by_its_reason() {
        let mut encoder = Encoder::new(Names);
        give(&mut encoder, Kind::Code, 0, (1, 9), &[4]);
        let frames = [FrameWord::new(8, FrameKind::Return)];
        for us in [1000, 300, 2600] {
            encoder.sample(&Sample {
                time_ns: 5,
                thread: 9,
                ip: 0,
                weight: us,
                flags: OFF_CPU | 1 << REASON,
                green: 0,
                frames: &frames,
            });
        }
        let text = summary(&mut encoder);
        assert!(
            text.contains("5  100.0 %           5  100.0 %  [waits for a monitor]"),
            "{text}"
        );
    }

    #[test]
    fn a_sample_counts_as_often_as_it_has_weight() {
        let mut encoder = Encoder::new(Names);
        give(&mut encoder, Kind::Code, 0, (1, 9), &[4]);
        let frames = [
            FrameWord::new(4, FrameKind::Exact),
            FrameWord::new(8, FrameKind::Return),
        ];
        let mut sample = Sample {
            time_ns: 5,
            thread: 9,
            ip: 0x4010,
            weight: 3,
            flags: 0,
            green: 0,
            frames: &frames,
        };
        encoder.sample(&sample);
        (sample.weight, sample.green) = (2, 1);
        encoder.sample(&sample);
        let text = summary(&mut encoder);
        assert!(
            text.contains("Samples: 5; 100.0 % in managed code"),
            "{text}"
        );
        assert!(
            text.contains("0    0.0 %           5  100.0 %  N:M8"),
            "{text}"
        );
    }
}
