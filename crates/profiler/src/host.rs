//! What the writer asks of the runtime: names, and the values of counters.
//!
//! # Invariants
//! * The writer's thread calls it, which is not attached: nothing here runs managed code, loads a type or waits for a thread that may be stopped.
//! * Ids are addresses that stay valid as long as the process lives.
use crate::sample::FrameWord;

/// A method, or a further piece of code that has an id of its own.
pub struct Method {
    /// `Namespace.Type:Name (int,string)`.
    pub name: String,
    /// Where its code lies; 0: it has none.
    pub code: u64,
    /// Bytes of code.
    pub size: u64,
}

/// A counter, as the file describes it.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Bits of the section.
    pub section: u32,
    /// Its name.
    pub name: String,
    /// What its value is.
    pub value: CounterValue,
    /// Bits of the unit.
    pub unit: u32,
    /// Bits of the variance.
    pub variance: u32,
}

/// The value of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterValue {
    /// A number with a sign.
    Long(i64),
    /// A number without one.
    ULong(u64),
    /// A time, in units of 100 ns.
    Time(i64),
    /// A double.
    Double(f64),
}

/// Sections of counters.
pub mod section {
    /// The compiler.
    pub const JIT: u32 = 1 << 8;
    /// The collector.
    pub const GC: u32 = 1 << 9;
    /// Metadata.
    pub const METADATA: u32 = 1 << 10;
    /// The runtime.
    pub const RUNTIME: u32 = 1 << 13;
    /// The system.
    pub const SYSTEM: u32 = 1 << 14;
    /// The profiler.
    pub const PROFILER: u32 = 1 << 16;
}

/// Units of counters.
pub mod unit {
    /// None.
    pub const RAW: u32 = 0;
    /// Bytes.
    pub const BYTES: u32 = 1 << 24;
    /// 100 ns.
    pub const TIME: u32 = 2 << 24;
    /// A count.
    pub const COUNT: u32 = 3 << 24;
}

/// How counters change.
pub mod variance {
    /// They grow.
    pub const MONOTONIC: u32 = 1 << 28;
    /// They grow and shrink.
    pub const VARIABLE: u32 = 1 << 30;
}

/// See the module.
pub trait Host: Send {
    /// Appends the methods of a frame, innermost first: what was inlined there, then the method itself. None for code without a method.
    fn methods(&mut self, frame: FrameWord, out: &mut Vec<u64>);
    /// The method with an id that [`Host::methods`] or a record gave.
    fn method(&mut self, id: u64) -> Method;
    /// Linked code, by its address in the table of code: its id, its name, and where it lies.
    fn code(&mut self, code: u64) -> (u64, Method);
    /// The domain and the class of a VTable.
    fn class_of(&mut self, vtable: u64) -> (u64, u64);
    /// The memory of the static fields that are references: where it begins, and its bytes.
    fn statics_of(&mut self, vtable: u64) -> Option<(u64, u64)>;
    /// The image and the name of a class.
    fn class(&mut self, class: u64) -> (u64, String);
    /// The file of an image, and its GUID.
    fn image(&mut self, image: u64) -> (String, String);
    /// The image and the full name of an assembly.
    fn assembly(&mut self, assembly: u64) -> (u64, String);
    /// The native symbol that an address lies in: where it starts, and its name.
    fn symbol(&mut self, address: u64) -> Option<(u64, String)>;
    /// Frames of a backtrace at most; 0: none is written.
    fn max_frames(&self) -> usize;
    /// What a thread waits for in waits of that kind, as the name of a function.
    fn wait(&self, kind: u8) -> &'static str;
    /// How many microseconds of waiting a hit stands for.
    fn wait_us(&self) -> u32;
    /// Are counters recorded?
    fn has_counters(&self) -> bool;
    /// The counters with their values; always the same ones in the same order.
    fn counters(&mut self) -> Vec<Counter>;
}
