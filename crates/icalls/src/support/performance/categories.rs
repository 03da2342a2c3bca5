//! The categories of performance counters that every process has, as in mono: names, types, and what their instances are.
//!
//! The order is that in which programs see them.

/// What the instances of a category are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Instances {
    /// Processors, and all of them together.
    Processor,
    /// Processes.
    Process,
    /// The machine has one.
    Memory,
    /// Network interfaces.
    Network,
    /// The process itself. Programs may write counters of these categories; most keep their values nevertheless.
    Own,
}
/// A category.
pub struct Category {
    /// Its name.
    pub name: &'static str,
    /// What its instances are.
    pub instances: Instances,
    /// Names and types (System.Diagnostics.PerformanceCounterType) of its counters.
    pub counters: &'static [(&'static str, i32)],
}

const ITEMS: i32 = 0x10000;
const ITEMS_64: i32 = 0x10100;
const RATE: i32 = 0x1041_0400;
const RATE_64: i32 = 0x1041_0500;
const TIMER: i32 = 0x2051_0500;
const INVERSE_TIMER: i32 = 0x2151_0500;
const FRACTION: i32 = 0x2002_0400;

/// All of them.
pub const CATEGORIES: &[Category] = &[
    Category {
        name: "Processor",
        instances: Instances::Processor,
        counters: &[
            ("% User Time", TIMER),
            ("% Privileged Time", TIMER),
            ("% Interrupt Time", TIMER),
            ("% DCP Time", TIMER),
            ("% Processor Time", INVERSE_TIMER),
        ],
    },
    Category {
        name: "Process",
        instances: Instances::Process,
        counters: &[
            ("% User Time", TIMER),
            ("% Privileged Time", TIMER),
            ("% Processor Time", TIMER),
            ("Thread Count", ITEMS_64),
            ("Virtual Bytes", ITEMS_64),
            ("Working Set", ITEMS_64),
            ("Private Bytes", ITEMS_64),
        ],
    },
    Category {
        name: "Mono Memory",
        instances: Instances::Memory,
        counters: &[
            ("Allocated Objects", ITEMS_64),
            ("Total Physical Memory", ITEMS_64),
            ("Available Physical Memory", ITEMS_64),
        ],
    },
    Category {
        name: "ASP.NET",
        instances: Instances::Own,
        counters: &[
            ("Requests Queued", ITEMS_64),
            ("Requests Total", ITEMS),
            ("Requests/Sec", RATE),
        ],
    },
    Category {
        name: ".NET CLR JIT",
        instances: Instances::Own,
        counters: &[
            ("# of IL Bytes JITted", ITEMS),
            ("# of IL Methods JITted", ITEMS),
            ("% Time in JIT", FRACTION),
            ("IL Bytes Jitted/Sec", RATE),
            ("Standard Jit Failures", ITEMS),
        ],
    },
    Category {
        name: ".NET CLR Exceptions",
        instances: Instances::Own,
        counters: &[
            ("# of Exceps Thrown", ITEMS),
            ("# of Exceps Thrown/Sec", RATE),
            ("# of Filters/Sec", RATE),
            ("# of Finallys/Sec", RATE),
            ("Throw to Catch Depth/Sec", ITEMS),
        ],
    },
    Category {
        name: ".NET CLR Memory",
        instances: Instances::Own,
        counters: &[
            ("# Gen 0 Collections", ITEMS),
            ("# Gen 1 Collections", ITEMS),
            ("# Gen 2 Collections", ITEMS),
            ("Promoted Memory from Gen 0", ITEMS),
            ("Promoted Memory from Gen 1", ITEMS),
            ("Gen 0 Promoted Bytes/Sec", RATE),
            ("Gen 1 Promoted Bytes/Sec", RATE),
            ("Promoted Finalization-Memory from Gen 0", ITEMS),
            ("Gen 0 heap size", ITEMS_64),
            ("Gen 1 heap size", ITEMS_64),
            ("Gen 2 heap size", ITEMS_64),
            ("Large Object Heap size", ITEMS),
            ("Finalization Survivors", ITEMS),
            ("# GC Handles", ITEMS),
            ("Allocated Bytes/sec", RATE),
            ("# Induced GC", ITEMS),
            ("% Time in GC", FRACTION),
            ("# Bytes in all Heaps", ITEMS_64),
            ("# Total committed Bytes", ITEMS_64),
            ("# Total reserved Bytes", ITEMS_64),
            ("# of Pinned Objects", ITEMS),
            ("# of Sink Blocks in use", ITEMS),
        ],
    },
    Category {
        name: ".NET CLR Remoting",
        instances: Instances::Own,
        counters: &[
            ("Remote Calls/sec", RATE),
            ("Total Remote Calls", ITEMS),
            ("Channels", ITEMS),
            ("Context Proxies", ITEMS),
            ("Context-Bound Classes Loaded", ITEMS),
            ("Context-Bound Objects Alloc / sec", RATE),
            ("Contexts", ITEMS),
        ],
    },
    Category {
        name: ".NET CLR Loading",
        instances: Instances::Own,
        counters: &[
            ("Current Classes Loaded", ITEMS),
            ("Total Classes Loaded", ITEMS),
            ("Rate of Classes Loaded", RATE),
            ("Current appdomains", ITEMS),
            ("Total Appdomains", ITEMS),
            ("Rate of appdomains", RATE),
            ("Current Assemblies", ITEMS),
            ("Total Assemblies", ITEMS),
            ("Rate of Assemblies", RATE),
            ("Total # of Load Failures", ITEMS),
            ("Rate of Load Failures", RATE),
            ("Bytes in Loader Heap", ITEMS),
            ("Total appdomains unloaded", ITEMS),
            ("Rate of appdomains unloaded", RATE),
        ],
    },
    Category {
        name: ".NET CLR LocksAndThreads",
        instances: Instances::Own,
        counters: &[
            ("Total # of Contentions", ITEMS),
            ("Contention Rate / sec", RATE),
            ("Current Queue Length", ITEMS),
            ("Queue Length Peak", ITEMS),
            ("Queue Length / sec", RATE),
            ("# of current logical Threads", ITEMS),
            ("# of current physical Threads", ITEMS),
            ("# of current recognized threads", ITEMS),
            ("# of total recognized threads", ITEMS),
            ("rate of recognized threads / sec", RATE),
        ],
    },
    Category {
        name: ".NET CLR Interop",
        instances: Instances::Own,
        counters: &[
            ("# of CCWs", ITEMS),
            ("# of Stubs", ITEMS),
            ("# of marshalling", ITEMS),
        ],
    },
    Category {
        name: ".NET CLR Security",
        instances: Instances::Own,
        counters: &[
            ("Total Runtime Checks", ITEMS),
            ("# Link Time Checks", ITEMS),
            ("% Time in RT checks", FRACTION),
            ("Stack Walk Depth", ITEMS),
        ],
    },
    Category {
        name: "Mono Threadpool",
        instances: Instances::Own,
        counters: &[
            ("Work Items Added", ITEMS_64),
            ("Work Items Added/Sec", RATE),
            ("IO Work Items Added", ITEMS_64),
            ("IO Work Items Added/Sec", RATE),
            ("# of Threads", ITEMS),
            ("# of IO Threads", ITEMS),
        ],
    },
    Category {
        name: "Network Interface",
        instances: Instances::Network,
        counters: &[
            ("Bytes Received/sec", RATE_64),
            ("Bytes Sent/sec", RATE_64),
            ("Bytes Total/sec", RATE_64),
        ],
    },
];
