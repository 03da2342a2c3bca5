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
//! * [`assemblies`], [`bundles`] (those that a host carries), [`images`], [`tables`]: files and their metadata; [`bodies`]: IL and walks of the stack
//! * [`classes`], [`kinds`] (types), [`methods`], [`fields`], [`properties`], [`describe`] (method descriptions), [`attributes`], [`reflection`]
//! * [`objects`], [`strings`], [`arrays`], [`handles`] (and barriers), [`exceptions`]
//! * [`invoke`], [`thunks`], [`internal_calls`]: calls into managed code and out of it
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
mod domains;
mod exceptions;
mod fields;
mod handles;
mod images;
mod internal_calls;
mod invoke;
mod kinds;
mod log;
mod methods;
mod missing;
mod objects;
mod profiler;
mod properties;
mod reflection;
mod start;
mod strings;
mod tables;
mod threads;
mod thunks;
