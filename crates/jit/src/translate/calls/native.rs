//! P/Invokes without their stubs: the native function is called from the method that names it.
//!
//! # How it works
//! The cell of a P/Invoke is empty until its stub has bound the function. Then the caller does what the stub would do:
//!
//! ```text
//!     cell = load [pinvoke cell]
//!     brif cell, bound, stub
//! stub: (cold)
//!     jump join(call the method)              ; binds the function, or throws what mono throws
//! bound:
//!     v1 = call_indirect plain_native_thunk(arguments, cell)
//!     jump join(v1)
//! ```
//!
//! Some functions of the C library run for some nanoseconds and do nothing but compute ([`ShortFunction`]). Where the runtime has found that the cell leads to the
//! one with the name that the program gave, the second word of the cell is its address as well. It is called as a leaf helper then, without a change of the thread's state, or is an
//! instruction:
//!
//! ```text
//!     short = load [pinvoke cell + 8]
//!     brif short, bound, stub
//! bound:
//!     v1 = fabs x                             ; or: call CallLibm(x, y, short)
//!     jump join(v1)
//! ```
//!
//! # Invariants
//! * A function is known by its address, never by its name alone: a program may bring a library of its own.
//! * The stack is walked as if the stub were there: the thunk's record names the method.
//! * Nothing is converted that can fail, so all exceptions but those that pass through native code are thrown by the stub.
use crate::blob::Symbol;
use crate::emit::Results;
use crate::optimise::Rarely;
use crate::options::Tier;
use crate::signature::LoweredSignature;
use crate::stubs::cold_call::result_of;
use crate::stubs::native::pinvoke;
use crate::translate::error::{Res, TranslateError};
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use smallvec::smallvec;
use vervet_abi::{ShortFunction, call};
use vervet_types::MethodRef;

/// How many P/Invokes of a method are made without their stubs. It bounds the growth of the code.
const SITES: usize = 20;

impl Translator<'_, '_> {
    /// Emits the call of a P/Invoke. None: it is none, or is to be called as other methods are.
    pub(super) fn native_in_place(
        &mut self,
        m: MethodRef,
        lowered: &LoweredSignature,
        args: &[Value],
    ) -> Res<Option<Results>> {
        if !m.is_pinvoke()
            || self.session.inline_limit < inline_limit(Tier::Optimised)
            || self.session.native_calls >= SITES
            || self.body.plan.blocks[self.body.block].cold
            || !pinvoke::is_plain(m).map_err(TranslateError::from_compile)?
        {
            return Ok(None);
        }
        self.session.native_calls += 1;
        if Self::triggers(m)? {
            self.class_init(m.class)?;
        }
        let [bound, stub, join] = [(); 3].map(|()| self.e.b.create_block());
        for result in &lowered.clif.returns {
            self.e.b.append_block_param(join, result.value_type);
        }
        let short = short_function(m, lowered)?;
        let cell = self
            .e
            .load_symbol(I64, Symbol::PInvokeCell(m), 8 * i32::from(short.is_some()));
        self.e.b.ins().brif(cell, bound, &[], stub, &[]);
        self.e.b.seal_block(bound);
        self.e.b.seal_block(stub);
        self.e.b.set_cold_block(stub);
        self.e.b.switch_to_block(stub);
        let code = self.e.load_symbol(I64, Symbol::MethodSlot(m), 0);
        let result = result_of(lowered);
        let signature = self.e.b.import_signature(lowered.clif.clone());
        let results = self
            .e
            .call_indirect_rarely(signature, Rarely::Always, result, code, args);
        self.e.cold();
        self.end_with(join, &results);
        self.e.b.switch_to_block(bound);
        let results: Results = match short {
            Some(function) => smallvec![self.short(function, cell, args)],
            None => pinvoke::emit_bound(self.e, m, lowered, cell, args)
                .map_err(TranslateError::from_compile)?,
        };
        self.end_with(join, &results);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(Some(self.e.b.block_params(join).into()))
    }

    /// What a short function computes.
    fn short(&mut self, function: ShortFunction, address: Value, args: &[Value]) -> Value {
        let x = args[0];
        match function {
            ShortFunction::fabs => self.e.b.ins().fabs(x),
            ShortFunction::sqrt => self.e.b.ins().sqrt(x),
            ShortFunction::floor => self.e.b.ins().floor(x),
            ShortFunction::ceil => self.e.b.ins().ceil(x),
            ShortFunction::trunc => self.e.b.ins().trunc(x),
            _ => {
                // A function of one argument does not look at the second.
                let y = args.get(1).copied().unwrap_or(x);
                self.e.helper_value(call::CallLibm, [x, y, address])
            }
        }
    }

    fn end_with(&mut self, join: Block, results: &[Value]) {
        let results: Vec<BlockArg> = results.iter().map(|v| BlockArg::Value(*v)).collect();
        self.e.b.ins().jump(join, &results);
    }
}

/// The short function that the method may be bound to: it has the name and takes and returns doubles.
fn short_function(m: MethodRef, lowered: &LoweredSignature) -> Res<Option<ShortFunction>> {
    let Some(import) = m.dll_import()? else {
        return Ok(None);
    };
    let is_double = |p: &cranelift_codegen::ir::AbiParam| p.value_type == F64;
    let (params, returns) = (&lowered.clif.params, &lowered.clif.returns);
    let all_doubles = params.iter().all(is_double) && returns.iter().all(is_double);
    Ok(ShortFunction::named(import.entry)
        .filter(|f| all_doubles && returns.len() == 1 && params.len() == f.arity()))
}
