//! The collector's tests, as one program: its code is generic, and compiled for the toy world once.
mod ephemerons;
mod graph;
mod liveness;
mod machine;
mod parked;
mod space;
mod toy;
