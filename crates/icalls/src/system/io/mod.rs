//! Native halves of System.IO.
pub mod drive_info;
pub mod file_system_watcher;
pub mod find;
pub mod memory_mapped_files;
pub mod mono_io;
pub mod path;
pub mod share;
