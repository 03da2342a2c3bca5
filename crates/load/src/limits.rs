//! How many descriptors this process may have.
use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors beside the connections: the standard streams, and one for epoll in each thread.
const OTHERS: u64 = 64;

/// Raises the soft limit of descriptors as far as `connections` need it. An error says what the limits are, and how to raise them.
pub fn allow_descriptors(connections: usize) -> Result<(), String> {
    let needed = connections as u64 + OTHERS;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(most) = limit.maximum.filter(|most| *most < needed) {
        return Err(format!(
            "{connections} connections need {needed} file descriptors, and the hard limit is {most}: \
             raise it (as root: `ulimit -Hn {needed}`), or ask for fewer connections"
        ));
    }
    limit.current = Some(needed);
    setrlimit(Resource::Nofile, limit)
        .map_err(|e| format!("the limit of file descriptors cannot be raised to {needed}: {e}"))
}
