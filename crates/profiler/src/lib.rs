//! The log profiler: its options, the bytes of its file, and the ways by which events reach the thread that writes them.
//!
//! Nothing here knows methods, objects or threads of the runtime: they are numbers, and names are asked for through traits that the
//! runtime implements.
