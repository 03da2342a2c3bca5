//! Where the caller of a thunk is, at each of the thunk's instructions.
//!
//! # How it works
//! The assembly of a thunk says by `caller_is!` what holds from the next instruction on. Each
//! such note is a row in a section of its own: the distance to the instruction, and the number
//! of a [`Rule`]. The rows are put in order of addresses once. A thunk ends with the rule
//! `end`.
//!
//! # Invariants
//! * From the instruction that links a thunk's record to the one that unlinks it the rule is
//!   [`Rule::InRecords`]; before and after that the rule names registers and stack.
//! * An address without a rule is no thunk of managed code's: there the state of the thread
//!   decides.
use vervet_os::Published;

/// Where the address of the caller (and its frame pointer) is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// At rsp; rbp is the caller's.
    AtSp,
    /// At rsp + 8; rbp is the caller's.
    AtSp8,
    /// At rbp + 8, and the frame pointer at rbp.
    InFrame,
    /// The records say where managed code was left.
    InRecords,
    /// In r11; rbp is the caller's.
    InR11,
    /// As `InFrame`, r11 bytes above.
    InFrameMoved,
    /// As `AtSp`; what is there is the address of an instruction that has not run.
    ExactAtSp,
    /// As `AtSp8`, likewise.
    ExactAtSp8,
    /// As `InFrame`, likewise.
    ExactInFrame,
    /// The thread goes on at rdi, with the frame pointer that is in rdx.
    TargetFrameInRdx,
    /// The thread goes on at rdi; rbp is the frame pointer.
    TargetFrameInRbp,
}

/// A note of the assembly.
#[repr(C)]
struct Row {
    /// From this word to the instruction.
    distance: i32,
    /// See `rule_number!`.
    rule: u32,
}

unsafe extern "C" {
    #[link_name = "__start_vervet_thunk_rows"]
    static FIRST: Row;
    #[link_name = "__stop_vervet_thunk_rows"]
    static BEHIND: Row;
}

static TABLE: Published<Vec<(usize, Option<Rule>)>> = Published::new();

fn rule(number: u32) -> Option<Rule> {
    use Rule::*;
    const RULES: [Rule; 11] = [
        AtSp,
        AtSp8,
        InFrame,
        InRecords,
        InR11,
        InFrameMoved,
        ExactAtSp,
        ExactAtSp8,
        ExactInFrame,
        TargetFrameInRdx,
        TargetFrameInRbp,
    ];
    number.checked_sub(1).map(|n| RULES[n as usize])
}

/// Puts the rows in order. It takes memory; what is asked before finds no rule.
pub(crate) fn initialise() {
    if TABLE.get().is_some() {
        return;
    }
    let (first, behind) = (&raw const FIRST, &raw const BEHIND);
    let count = (behind as usize - first as usize) / size_of::<Row>();
    // SAFETY: the linker puts the rows of all object files one behind the other, and the two symbols around them.
    let rows = unsafe { std::slice::from_raw_parts(first, count) };
    let mut table: Vec<_> = rows
        .iter()
        .map(|row| {
            let at = &raw const row.distance as usize;
            (at.wrapping_add_signed(row.distance as isize), row.rule)
        })
        .collect();
    // Of two notes at one address the later one holds; the sort keeps their order.
    table.sort_by_key(|row| row.0);
    let rules = table.into_iter().map(|(at, number)| (at, rule(number)));
    TABLE.put(rules.collect());
}

/// The rule at an instruction; None: it is in no thunk. Async-signal-safe.
pub(crate) fn rule_at(pc: usize) -> Option<Rule> {
    let table = TABLE.get()?;
    let behind = table.partition_point(|row| row.0 <= pc);
    table[..behind].last()?.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thunk_begins_with_its_caller_at_the_stack_pointer_and_ends() {
        initialise();
        let start = |f: unsafe extern "C" fn()| rule_at(f as *const () as usize);
        assert_eq!(start(crate::arch::icall_thunk), Some(Rule::AtSp));
        assert_eq!(start(crate::arch::leaf_thunk), Some(Rule::AtSp));
        assert_eq!(start(crate::arch::native_thunk), Some(Rule::AtSp));
        assert_eq!(start(crate::arch::grow), Some(Rule::AtSp8));
        assert_eq!(start(crate::arch::trap_stub), Some(Rule::ExactAtSp));
        assert_eq!(
            rule_at(crate::arch::enter as *const () as usize),
            Some(Rule::InRecords)
        );
        assert_eq!(rule_at(initialise as *const () as usize), None);
        let table = TABLE.get().expect("just made");
        assert!(table.is_sorted_by_key(|row| row.0));
        assert_eq!(table.last().expect("rows").1, None, "the last thunk ends");
    }
    /// The linker puts other code behind a thunk, and which is chance: a thunk that does not say where it ends lends it its last rule. So each function
    /// of assembly that notes anything is looked at.
    #[test]
    fn whatever_begins_ends() {
        let files = [
            include_str!("blocks.rs"),
            include_str!("entry.rs"),
            include_str!("exits.rs"),
            include_str!("grow.rs"),
            include_str!("host.rs"),
            include_str!("interrupts.rs"),
            include_str!("lazy.rs"),
            include_str!("native.rs"),
            include_str!("reentry.rs"),
            include_str!("switch.rs"),
            include_str!("write_back.rs"),
        ];
        let mut noted = 0;
        for assembly in files.iter().flat_map(|f| f.split("naked_asm!(").skip(1)) {
            let body = assembly.lines().take_while(|line| line.trim() != ")");
            let body = body.collect::<Vec<_>>().join("\n");
            if body.contains("caller_is!(") || body.contains("push_exit!(") {
                noted += 1;
                assert!(
                    body.contains("caller_is!(end)"),
                    "without its end, what the linker puts next has its last rule:\n{body}"
                );
            }
        }
        assert!(noted > 10, "{noted}");
    }
}
