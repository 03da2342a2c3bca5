//! Native half of System.IO.MonoIO.
//!
//! Keeps nothing but the table of share modes ([`crate::system::io::share`]). [`descriptors`]: what is done with an open file; [`paths`]: what is
//! done with a name. Here: the standard descriptors, the separators of paths, and how both report errors.
//!
//! # Invariants
//! * A handle is a file descriptor.
//! * A call that may block runs in Native state. A byte array that it works on holds no references, and is kept in place by the argument that
//!   names it.
pub mod descriptors;
pub mod paths;

use crate::support::args::Out;
use crate::support::error_numbers;
pub use paths::{attributes, stat};
use vervet_runtime::icalls;

/// Result of a call that gives -1 and errno on failure, in the way of MonoIO: success or the error number.
fn check(result: impl Into<i64>, error: Out<'_, i32>) -> bool {
    report(
        if result.into() == -1 {
            Err(error_numbers::last())
        } else {
            Ok(())
        },
        error,
    )
}
/// Stores the error, or success, for managed code; true for success.
fn report(result: std::result::Result<(), i32>, error: Out<'_, i32>) -> bool {
    error.set(result.err().unwrap_or(error_numbers::SUCCESS));
    result.is_ok()
}

icalls! {
    /// The descriptor of standard input.
    "System.IO.MonoIO::get_ConsoleInput" fn get_console_input(cx) -> isize { Ok(0) }
    /// The descriptor of standard output.
    "System.IO.MonoIO::get_ConsoleOutput" fn get_console_output(cx) -> isize { Ok(1) }
    /// The descriptor of standard error.
    "System.IO.MonoIO::get_ConsoleError" fn get_console_error(cx) -> isize { Ok(2) }
    /// The slash: there are no volumes.
    "System.IO.MonoIO::get_VolumeSeparatorChar" fn get_volume_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The slash.
    "System.IO.MonoIO::get_DirectorySeparatorChar" fn get_directory_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The slash: there is no second separator.
    "System.IO.MonoIO::get_AltDirectorySeparatorChar" fn get_alt_directory_separator_char(cx) -> u16 { Ok(u16::from(b'/')) }
    /// The colon that separates the entries of a search path.
    "System.IO.MonoIO::get_PathSeparator" fn get_path_separator(cx) -> u16 { Ok(u16::from(b':')) }
}
