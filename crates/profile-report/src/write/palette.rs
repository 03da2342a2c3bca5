//! Colours of frames: whose code it is.
use crate::profile::frames::{Frames, Kind};
use crate::stacks::Frame;

/// Whose code a frame is: the place of its colour.
pub(super) fn owner(frames: &Frames, frame: Frame) -> usize {
    match frames.kind(frame) {
        Kind::Native => 2,
        Kind::Stub => 3,
        Kind::Class => 4,
        Kind::Method if frames.is_wrapper(frame) => 3,
        Kind::Method if frames.is_of_library(frame) => 1,
        Kind::Method => 0,
    }
}

/// Hue, saturation and lightness of the program's methods, the class library's, native functions, stubs and wrappers, classes of objects.
const BASES: [(u32, u32, u32); 5] = [
    (18, 85, 68),
    (95, 45, 66),
    (210, 50, 72),
    (220, 8, 76),
    (280, 45, 76),
];

/// The colour of a frame. Frames of the same class of code differ a little.
pub(super) fn colour(frames: &Frames, frame: Frame) -> String {
    let (hue, saturation, lightness) = BASES[owner(frames, frame)];
    let name = frames.full_name(frame);
    // FNV-1a: the same name has the same colour in every picture.
    let hash = name.bytes().fold(0x811C_9DC5u32, |h, b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    });
    format!(
        "hsl({},{}%,{}%)",
        hue + hash % 28,
        saturation,
        lightness - 6 + (hash >> 8) % 12
    )
}
