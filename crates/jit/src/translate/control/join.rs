//! Where several paths bring the result of one call: those of an inlined body, or of a guarded call.
//!
//! # Invariants
//! * A result that is a struct is copied to a buffer of the join's before the jump, so it does not matter what becomes of the memory that a path had it in.
//! * Any other result is the block's parameter. What is known of it is what is known of the results of all paths ([`Agreed`]).
use crate::emit::trusted;
use crate::signature::{LoweredSignature, Pass};
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use vervet_types::ClassRef;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Join {
    pub(crate) block: Block,
    /// Where a struct result is put.
    buffer: Option<Value>,
    /// Where the paths go instead, if a branch asks for the result.
    pub(crate) fork: Option<Fork>,
}

/// Where the `ret`s of a body go whose result only a branch asks for: with 0, and with anything
/// else. See module [`fork`](super::fork).
#[derive(Clone, Copy)]
pub(crate) struct Fork {
    pub(crate) no: Block,
    pub(crate) yes: Block,
}

impl Join {
    /// The join of a result that only a branch asks for.
    pub(crate) fn forked(fork: Fork) -> Join {
        Join {
            block: fork.no,
            buffer: None,
            fork: Some(fork),
        }
    }
}

/// What all paths that have come to a join so far know of an object that they bring.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Agreed {
    /// Its class, if it is not null.
    exact: Option<ClassRef>,
    non_null: bool,
}

impl Agreed {
    fn of(result: &StackValue) -> Res<Agreed> {
        let known = |fact| matches!(fact, ValueFact::Exact | ValueFact::NonNull);
        Ok(match result.stack_type {
            StackType::Ref => Agreed {
                exact: result.exact_object()?,
                non_null: known(result.fact),
            },
            _ => Agreed {
                exact: None,
                non_null: false,
            },
        })
    }
    fn and(self, other: Agreed) -> Agreed {
        Agreed {
            exact: self.exact.filter(|class| other.exact == Some(class)),
            non_null: self.non_null && other.non_null,
        }
    }
}

/// The stack type of a signature's result.
pub(crate) fn result_type(lowered: &LoweredSignature) -> Res<Option<StackType>> {
    Ok(match lowered.ret {
        Pass::None => None,
        _ => Some(stack_type_of(lowered.ret_class)?),
    })
}

impl<'a, 'f> Translator<'a, 'f> {
    /// A join for results of that signature.
    pub(crate) fn new_join(&mut self, lowered: &LoweredSignature) -> Res<Join> {
        let block = self.e.b.create_block();
        let mut buffer = None;
        match result_type(lowered)? {
            Some(StackType::Struct) => buffer = Some(self.temp_of(lowered.ret_class)?),
            Some(kind) => {
                self.e.b.append_block_param(block, kind.clif());
            }
            None => {}
        }
        Ok(Join {
            block,
            buffer,
            fork: None,
        })
    }

    /// Ends a path: jumps to the join with the result, which has the form that memory of the class has.
    pub(crate) fn jump_to_join(
        &mut self,
        to: Join,
        class: ClassRef,
        result: Option<StackValue>,
    ) -> Res {
        match (result, to.buffer) {
            (Some(result), None) if let Some(fork) = to.fork => {
                self.jump_to_fork(fork, result.value);
            }
            (Some(result), Some(at)) => {
                let whole = Dest::Frame;
                self.copy(class, at, 0, trusted(), result.value, 0, trusted(), whole)?;
                self.e.b.ins().jump(to.block, &[]);
            }
            (Some(result), None) => {
                let agreed = Agreed::of(&result)?;
                let paths = self.session.agreed.entry(to.block).or_insert(agreed);
                *paths = paths.and(agreed);
                self.e
                    .b
                    .ins()
                    .jump(to.block, &[BlockArg::Value(result.value)]);
            }
            (None, _) => {
                self.e.b.ins().jump(to.block, &[]);
            }
        }
        Ok(())
    }

    /// Pushes the result, in the block of the join.
    pub(crate) fn push_joined(&mut self, lowered: &LoweredSignature, join: Join) -> Res {
        if let Some(stack_type) = result_type(lowered)? {
            let value = match join.buffer {
                Some(at) => at,
                None => self.e.b.block_params(join.block)[0],
            };
            let agreed = self.session.agreed.remove(&join.block);
            let (class, fact) = match agreed {
                Some(Agreed {
                    exact: Some(class),
                    non_null,
                }) => {
                    let fact = if non_null {
                        ValueFact::Exact
                    } else {
                        ValueFact::ExactOrNull
                    };
                    (class, fact)
                }
                Some(Agreed { non_null: true, .. }) => (lowered.ret_class, ValueFact::NonNull),
                _ => (lowered.ret_class, ValueFact::None),
            };
            self.push_value(StackValue {
                stack_type,
                value,
                class: Some(class),
                fact,
            });
        }
        Ok(())
    }
}
