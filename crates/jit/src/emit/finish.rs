//! What is read out of a compiled function: machine code, relocations, call sites, traps, source positions, frame.
//!
//! # Invariants
//! The tables that the runtime searches by return address or fault address are sorted by code offset.
use super::emitter::CATCH_ALL;
use super::frameless;
use super::front::{Front, StackCheck};
use super::placement;
use super::positions::{NO_REDIRECT, Positions};
use crate::blob::{Blob, BlobStats, CallSite, Handler, Reloc, RelocKind, Symbol};
use cranelift_codegen::binemit::Reloc as ClReloc;
use cranelift_codegen::ir::{ExternalName, Function, TrapCode};
use cranelift_codegen::{CompiledCode, FinalizedMachExceptionHandler, FinalizedRelocTarget};
use vervet_abi::ThrowKind;
use vervet_types::MethodRef;

/// Where the stack slots of a compiled function are, for functions that work on its frame (filters).
#[derive(Default, Clone)]
pub struct FrameMap {
    /// By stack slot number: bytes to add to the frame pointer.
    pub slots: Vec<i32>,
}

/// A function that Cranelift has compiled, and what its emitter knew of it.
pub struct Finished<'a> {
    pub function: &'a Function,
    pub compiled: &'a CompiledCode,
    /// By index of the external name in the CLIF.
    pub symbols: &'a [Symbol],
    pub positions: Positions,
    /// Whether it checks its stack.
    pub check: StackCheck,
    /// The method whose calls it counts.
    pub counted: Option<MethodRef>,
    /// Bytes of arguments that the caller puts on the stack.
    pub stack_arg_bytes: u32,
    /// Bytes of stack arguments of its largest tail call.
    pub tail_bytes: u32,
    /// See [`Blob::exposes_frame`].
    pub exposes_frame: bool,
    /// Indices of symbols that must exist where the code is linked, though it may not use them.
    pub needed: &'a [u32],
}

/// Converts a compiled function to a blob. The error is the reason, without the method.
pub fn finish(f: Finished<'_>) -> Result<(Blob, FrameMap), String> {
    let mut blob = Blob {
        code: f.compiled.code_buffer().to_vec(),
        align: f.compiled.buffer.alignment.max(16),
        stack_arg_bytes: f.stack_arg_bytes,
        exposes_frame: f.exposes_frame,
        stats: BlobStats {
            clif_insts: f.function.dfg.num_insts() as u32,
            ..BlobStats::default()
        },
        ..Blob::default()
    };
    let layout = f.compiled.buffer.frame_layout();
    // (A function without a frame layout has no frame.)
    blob.frame_size = layout.map_or(0, |l| l.frame_to_fp_offset);
    let frame = blob.frame_size + f.tail_bytes.saturating_sub(f.stack_arg_bytes);
    let front = Front::new(f.counted, f.check, frame, blob.align);
    relocations(&mut blob, &f, front.as_ref().map_or(0, Front::len))?;
    call_sites(&mut blob, f.compiled);
    traps(&mut blob, f.compiled);
    positions(&mut blob, &f);
    let mut frame = FrameMap::default();
    if let Some(layout) = layout {
        frame.slots = f
            .function
            .sized_stack_slots
            .keys()
            .map(|s| layout.stackslots[s].offset as i32 - layout.frame_to_fp_offset as i32)
            .collect();
    }
    if blob.align == 16 {
        blob.places = placement::places(f.compiled, front.as_ref().map_or(0, Front::len));
    }
    match front {
        Some(front) => front.add(&mut blob),
        None => frameless::take_out(&mut blob, &f),
    }
    for index in f.needed {
        need(&mut blob, f.symbols[*index as usize]);
    }
    blob.inline_sites = f.positions.sites;
    blob.shrink();
    Ok((blob, frame))
}

/// Makes the linker resolve a symbol, by a word behind the code that nobody reads.
fn need(blob: &mut Blob, symbol: Symbol) {
    if blob.relocs.iter().any(|r| r.symbol == symbol) {
        return;
    }
    let offset = blob.code.len().next_multiple_of(8);
    blob.code.resize(offset + 8, 0);
    blob.relocs.push(Reloc {
        offset: offset as u32,
        kind: RelocKind::Abs8,
        symbol,
        addend: 0,
    });
}

/// Converts the relocations of a function whose body moves by `front` bytes. Calls and constants refer to symbols by the index of their external
/// name; a reference to the function itself is one to [`Symbol::SelfCode`].
fn relocations(blob: &mut Blob, f: &Finished<'_>, front: u32) -> Result<(), String> {
    for r in f.compiled.buffer.relocs() {
        let (symbol, extra) = match &r.target {
            FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                let name = &f.function.params.user_named_funcs()[*name];
                (f.symbols[name.index as usize], 0)
            }
            FinalizedRelocTarget::Func(offset) => (Symbol::SelfCode, i64::from(front + *offset)),
            FinalizedRelocTarget::ExternalName(other) => {
                return Err(format!("a relocation against {other:?}"));
            }
        };
        let kind = match r.kind {
            ClReloc::Abs8 => RelocKind::Abs8,
            ClReloc::X86CallPCRel4 | ClReloc::X86PCRel4 => RelocKind::PcRel4,
            other => return Err(format!("a relocation of kind {other:?}")),
        };
        blob.relocs.push(Reloc {
            offset: r.offset,
            kind,
            symbol,
            addend: r.addend + extra,
        });
    }
    Ok(())
}

/// Converts the call sites. The handlers of a site keep their order, innermost first: the unwinder
/// takes the first that matches.
fn call_sites(blob: &mut Blob, compiled: &CompiledCode) {
    for site in compiled.buffer.call_sites() {
        let first_handler = blob.handlers.len() as u32;
        for h in site.exception_handlers {
            let (clause, code) = match h {
                FinalizedMachExceptionHandler::Tag(tag, code) => (tag.as_u32(), *code),
                FinalizedMachExceptionHandler::Default(code) => (CATCH_ALL, *code),
                FinalizedMachExceptionHandler::Context(_) => continue,
            };
            blob.handlers.push(Handler { clause, code });
        }
        blob.call_sites.push(CallSite {
            ret: site.ret_addr,
            frame_offset: site.frame_offset.unwrap_or(u32::MAX),
            first_handler,
            handler_count: blob.handlers.len() as u32 - first_handler,
        });
    }
}

/// Cranelift has trap codes of its own for what `idiv` raises; codes up to 250 are ours (`trap_code`). The others it
/// uses for accesses that may fault, which can only be null dereferences here.
fn traps(blob: &mut Blob, compiled: &CompiledCode) {
    for t in compiled.buffer.traps() {
        let kind = if t.code == TrapCode::INTEGER_DIVISION_BY_ZERO {
            ThrowKind::DivideByZero as u8
        } else if t.code == TrapCode::INTEGER_OVERFLOW {
            ThrowKind::Overflow as u8
        } else if t.code.as_raw().get() <= 250 {
            t.code.as_raw().get()
        } else {
            ThrowKind::NullReference as u8
        };
        blob.traps.push((t.offset, kind));
    }
    blob.traps.sort_unstable();
}

/// Fills in the IL map, the map of inlined code, the ranges without asynchronous exceptions and the prologue's end.
///
/// The register allocator's moves at the beginning of a block have no location. Where the first instruction of the block is one of a step they count as
/// such, because the step may have begun in a block before.
fn positions(blob: &mut Blob, f: &Finished<'_>) {
    let mut last = None;
    let mut last_inlined = (0, 0);
    let mut blocks = f.compiled.bb_starts.iter().copied().peekable();
    let (mut block, mut before) = (0, 0);
    for s in f.compiled.buffer.get_srclocs_sorted() {
        let location = s.loc.bits();
        while let Some(at) = blocks.next_if(|at| *at <= s.start) {
            block = at;
        }
        let is_first = before <= block;
        before = s.end;
        // What Cranelift simplified has no location, and a load may have been merged into it: it counts to what is before it.
        if s.loc.is_default() && blob.prologue_end != 0 {
            continue;
        }
        let (il, inlined) = if s.loc.is_default() {
            (u32::MAX, (0, 0))
        } else {
            if blob.prologue_end == 0 {
                blob.prologue_end = s.start;
            }
            if location & NO_REDIRECT != 0 {
                let start = if is_first { block } else { s.start };
                match blob.no_redirect.last_mut() {
                    Some(range) if range.1 == start => range.1 = s.end,
                    _ => blob.no_redirect.push((start, s.end)),
                }
            }
            f.positions.resolve(location & !NO_REDIRECT)
        };
        if last != Some(il) {
            blob.il_map.push((s.start, il));
            last = Some(il);
        }
        if inlined != last_inlined {
            blob.inline_map.push((s.start, inlined.0, inlined.1));
            last_inlined = inlined;
        }
    }
    blob.prologue_end = prologue_end(f, blob.prologue_end);
}

/// Where the prologue has ended at the latest: at the first instruction that has a location, or at the first block behind the entry block. A loop is of such blocks, and
/// its instructions may all have lost their locations, because each was simplified; a thread in it must be found by requests all the same. 0: the function is no
/// translated body, and nothing in it has a location.
fn prologue_end(f: &Finished<'_>, first_located: u32) -> u32 {
    let func = f.function;
    let mut insts = func
        .layout
        .blocks()
        .flat_map(|b| func.layout.block_insts(b));
    if insts.all(|inst| func.srcloc(inst).is_default()) {
        return first_located;
    }
    let second_block = f.compiled.bb_starts.iter().copied().find(|at| *at > 0);
    match second_block {
        Some(at) if first_located == 0 || at < first_located => at,
        _ => first_located,
    }
}
