//! `libvervet`: the embedding API of Mono 6.8 over this runtime, as a shared library.
//!
//! # How it works
//! Each function is declared by [`api!`](support) with the prototype of Mono's headers. It enters the runtime from the host's code, which is in
//! Foreign state (`runtime/threads/foreign.rs`), does its work as an internal call would, and goes back.
//!
//! | type of the API | what a host's pointer leads to |
//! |---|---|
//! | `MonoDomain`, `MonoAssembly`, `MonoImage` | `Domain`, `Assembly`, `Module` |
//! | `MonoClass`, `MonoType` | `Class`: arrays, pointers and by-ref types are classes here |
//! | `MonoMethod`, `MonoClassField`, `MonoProperty`, `MonoEvent` | `Method`, `Field`, `Property`, `Event` |
//! | `MonoMethodSignature`, `MonoVTable` | `MethodSig`, `VTable` |
//! | `MonoObject` and what derives from it | the object, which stays in place while the host's frames refer to it |
//!
//! # Map
//! * [`support`]: declaring functions; strings; failures
//! * [`start`]: start-up, configuration, the end; [`domains`], [`threads`], [`log`], [`config`], [`profiler`], [`counters`]
//! * [`assemblies`], [`bundles`] (those that a host carries), [`images`], [`tables`]: files and their metadata; [`signatures`], [`marshalling`], [`security`]: what is in
//!   its bytes; [`bodies`], [`disassembly`], [`symbols`]: IL, walks of the stack, lines of source
//! * [`classes`], [`kinds`] (types), [`methods`], [`fields`], [`properties`], [`describe`] (method descriptions), [`attributes`], [`reflection`]
//! * [`objects`], [`strings`], [`arrays`], [`handles`] (and barriers), [`reference_queues`], [`exceptions`]
//! * [`invoke`], [`thunks`], both with [`plans`]; [`internal_calls`], [`libraries`]: calls into managed code and out of it
//! * [`missing`]: the functions that are not here, which say so when they are called
//!
//! # Invariants
//! * No function of the runtime runs in Foreign state, and no function of the host's in another one.
//! * A pointer that a host was given is valid for the life of the process, unless the header says who frees it.
#![expect(
    unused_unsafe,
    unused_variables,
    reason = "every body of a declared function is unsafe and sees its token, whether it needs that or not"
)]
#[macro_use]
mod support;
mod arrays;
mod assemblies;
mod attributes;
mod bodies;
mod bundles;
mod classes;
mod config;
mod counters;
mod describe;
mod disassembly;
mod domains;
mod exceptions;
mod fields;
mod handles;
mod images;
mod internal_calls;
mod invoke;
mod kinds;
mod libraries;
mod log;
mod marshalling;
mod methods;
mod missing;
mod objects;
mod plans;
mod profiler;
mod properties;
mod reference_queues;
mod reflection;
mod security;
mod signatures;
mod start;
mod strings;
mod symbols;
mod tables;
mod threads;
mod thunks;
