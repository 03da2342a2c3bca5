//! What an ILGenerator object holds: the code, the local variables, the exception clauses.
//!
//! # Invariants
//! * The code is copied: the program may go on with the generator.
//! * Clauses are handed out innermost first, as metadata wants them. The generator has them in the order in which their regions were begun,
//!   an outer region before those within it, so the order is turned round.
use crate::support::emit::encoder::non_null;
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::read;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// A local variable.
pub struct LocalObject<'cx> {
    /// Its Type.
    pub ty: ObjRef<'cx>,
    /// `pinned`.
    pub pinned: bool,
}

/// What a clause does.
pub enum ClauseAction<'cx> {
    /// Catches that Type.
    Catch(ObjRef<'cx>),
    /// Asks the filter at that offset.
    Filter(u32),
    /// `finally`.
    Finally,
    /// `fault`.
    Fault,
}

/// An exception clause.
pub struct ClauseObject<'cx> {
    /// What it does.
    pub action: ClauseAction<'cx>,
    /// Start and length of the protected range.
    pub tried: (u32, u32),
    /// Start and length of the handler.
    pub handler: (u32, u32),
}

/// See the module.
pub struct Body<'cx> {
    /// The code.
    pub code: Vec<u8>,
    /// Deepest evaluation stack.
    pub max_stack: u16,
    generator: ObjRef<'cx>,
}

/// The body of an ILGenerator.
pub fn of<'cx>(generator: ObjRef<'cx>) -> Body<'cx> {
    let code = generator.read_ref(offset_of!(ILGeneratorObject, code));
    let len: i32 = generator.read(offset_of!(ILGeneratorObject, code_len));
    let max_stack: i32 = generator.read(offset_of!(ILGeneratorObject, max_stack));
    Body {
        code: read::bytes(code, len.max(0) as usize),
        max_stack: max_stack.clamp(0, i32::from(u16::MAX)) as u16,
        generator,
    }
}

impl<'cx> Body<'cx> {
    /// Calls `each` for each local variable.
    pub fn for_each_local(&self, mut each: impl FnMut(LocalObject<'cx>) -> E<()>) -> E<()> {
        for local in read::elements(
            self.generator
                .read_ref(offset_of!(ILGeneratorObject, locals)),
        ) {
            let local = non_null(local)?;
            let pinned: u8 = local.read(offset_of!(LocalVariableInfoObject, is_pinned));
            each(LocalObject {
                ty: local.read_ref(offset_of!(LocalVariableInfoObject, ty)),
                pinned: pinned != 0,
            })?;
        }
        Ok(())
    }
    /// Calls `each` for each clause, innermost first.
    ///
    /// # Errors
    /// InvalidProgramException: a clause is of no kind.
    pub fn for_each_clause(&self, mut each: impl FnMut(ClauseObject<'cx>) -> E<()>) -> E<()> {
        let Some(regions) = self
            .generator
            .read_ref(offset_of!(ILGeneratorObject, ex_handlers))
            .non_null()
        else {
            return Ok(());
        };
        for r in (0..regions.array_len()).rev() {
            let at = read::element_offset::<ILExceptionInfo>(regions, r);
            let start: u32 = regions.read(at + offset_of!(ILExceptionInfo, start));
            let len: u32 = regions.read(at + offset_of!(ILExceptionInfo, len));
            let handlers = regions.read_ref(at + offset_of!(ILExceptionInfo, handlers));
            let Some(handlers) = handlers.non_null() else {
                continue;
            };
            for h in 0..handlers.array_len() {
                let at = read::element_offset::<ILExceptionBlock>(handlers, h);
                let word = |field: usize| -> u32 { handlers.read(at + field) };
                let handler_start = word(offset_of!(ILExceptionBlock, start));
                let kind = word(offset_of!(ILExceptionBlock, kind));
                let (action, tried_len) = match kind {
                    0 => {
                        let ty = handlers.read_ref(at + offset_of!(ILExceptionBlock, extype));
                        (ClauseAction::Catch(ty), len)
                    }
                    1 => {
                        let filter = word(offset_of!(ILExceptionBlock, filter_offset));
                        (ClauseAction::Filter(filter), len)
                    }
                    // A finally protects the handlers before it, too.
                    2 => (ClauseAction::Finally, handler_start.wrapping_sub(start)),
                    4 => (ClauseAction::Fault, len),
                    _ => {
                        return Err(EmitError::Throw(
                            Known::InvalidProgramException,
                            "an exception clause of no kind".to_owned(),
                        ));
                    }
                };
                each(ClauseObject {
                    action,
                    tried: (start, tried_len),
                    handler: (handler_start, word(offset_of!(ILExceptionBlock, len))),
                })?;
            }
        }
        Ok(())
    }
}
