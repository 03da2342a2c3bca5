//! Stacks are made after the process has had its memory locked. (A process of its own: the lock is for all of it.)
#![expect(unsafe_code, reason = "locks memory")]
use vervet_os::memory;

#[test]
fn a_process_that_locks_its_memory_learns_that_guards_are_mappings() {
    if !memory::has_guard_regions() {
        eprintln!("skipped: this system has no guard regions");
        return;
    }
    // SAFETY: the call takes a number.
    if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
        eprintln!("skipped: memory cannot be locked here");
        return;
    }
    let stack = memory::stack(64 << 10);
    // SAFETY: the call takes nothing.
    unsafe { libc::munlockall() };
    let (low, high) = stack.expect("a stack with a guard page");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings");
    let guard = format!("{:x}-{low:x} ---p", low - 4096);
    let is_mapping = maps.lines().any(|line| line.starts_with(&guard));
    assert_eq!(memory::has_guard_regions(), !is_mapping, "{maps}");
    // SAFETY: the bounds are those of the stack, which nobody uses.
    unsafe { memory::free_stack(low, high) };
}
