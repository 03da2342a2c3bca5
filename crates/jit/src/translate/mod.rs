//! IL to CLIF: the translator of one method body.
//!
//! # How it works
//! [`control::control_flow`] plans the body: blocks, protected regions, reachability. The
//! [`Translator`] then goes over the
//! reachable blocks in IL order with a typed model of the IL stack ([`values::stack`]) and
//! emits CLIF through an [`Emitter`].
//! [`ops::opcodes`] is the table from opcodes to the functions that translate them. The folders
//! hold one topic each:
//!
//! ```text
//! control/     plan, walk over the blocks, exception handling
//! values/      values on the IL stack and in memory
//! frame/       variables, prologue and return
//! ops/         arithmetic, conversions, fields, arrays, objects
//! calls/       calls, newobj, intrinsics
//! inlining/    which methods are inlined, and how
//! fast_paths/  sequences in place of calls into the runtime: allocation, handles, monitors
//! ```
//!
//! Filters are compiled afterwards as functions of their own over the parent's frame.
//!
//! # Invariants
//! * Every value on the stack has an ECMA type; what mono would not coerce is
//!   [`TranslateError::Invalid`], never a panic.
//! * Inside a protected region nothing may fault: every check is explicit and every call is a `try_call`.
//! * The stack is empty at every edge into or out of a protected region.
pub mod calls;
pub mod control;
pub mod error;
pub mod fast_paths;
pub mod frame;
pub mod inlining;
pub mod ops;
pub(crate) mod simd;
pub mod translator;
pub mod values;

use crate::blob::{Blob, Clause, ClauseKind, ProfiledCall};
use crate::emit::{Codegen, Emitter, FrameMap, Request};
use crate::error::CompileError;
use crate::options::{CompileEnv, Tier};
use crate::signature::LoweredSignature;
use crate::tiers::{self, may_be_compiled_again};

use crate::translate::control::carried::Replacement;
use crate::translate::control::control_flow::Plan;
use crate::translate::error::{Res, TranslateError};
use crate::translate::frame::location::Variable;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::{Body, Session, Translator};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, types::*};
use cranelift_codegen::isa::CallConv;
use vervet_metadata::body::{EhKind, MethodBody};
use vervet_types::{ClassRef, MethodRef, Scope};

/// The source of a method's translation, which its body and its filters share.
struct Source<'a> {
    method: MethodRef,
    env: &'a dyn CompileEnv,
    lowered: LoweredSignature,
    body: MethodBody<'static>,
    /// The classes of the arguments, `this` included.
    arg_classes: Vec<ClassRef>,
    locals: Vec<vervet_types::resolve::Local>,
    scope: Scope,
    /// The largest body, in bytes of IL, that is inlined; 0: none is.
    inline_limit: usize,
    fail_guards: bool,
    /// See [`CompileEnv::wants_profile`](crate::options::CompileEnv::wants_profile).
    notes_callees: bool,
    /// How loops are left, by code that does so or is entered so.
    replacement: Option<Replacement>,
}

/// What to compile of a method.
#[derive(Clone, Copy)]
struct Wanted {
    tier: Tier,
    /// The head of a loop at which the code is entered; None: it is entered at the method's start.
    head: Option<u32>,
    /// Whether code that is entered at a loop has patchpoints in the loops around it.
    has_patchpoints: bool,
    /// Whether to fill in [`Blob::listing`].
    listing: bool,
}

/// Translates and compiles a method that has IL. If that fails, the method is compiled again
/// without inlining: an error in the body of a callee must appear when the callee is called, and
/// not in its caller.
///
/// A method with a loop that quick code could not leave for optimised code is optimised,
/// whatever tier is asked for.
pub fn compile(
    codegen: &Codegen,
    method: MethodRef,
    env: &dyn CompileEnv,
    tier: Tier,
    listing: bool,
) -> Result<Blob, CompileError> {
    let wanted = |tier| Wanted {
        tier,
        head: None,
        has_patchpoints: false,
        listing,
    };
    match compile_inlining(codegen, method, env, wanted(tier))? {
        Some(blob) => Ok(blob),
        None => {
            let made = compile_inlining(codegen, method, env, wanted(Tier::Optimised))?;
            made.ok_or_else(|| TranslateError::internal("a loop that is stuck").at(method))
        }
    }
}

/// Compiles a method to be entered at the head of a loop, at that IL offset, optimised.
pub fn compile_loop(
    codegen: &Codegen,
    method: MethodRef,
    env: &dyn CompileEnv,
    head: u32,
    listing: bool,
) -> Result<Blob, CompileError> {
    let wanted = |has_patchpoints| Wanted {
        tier: Tier::Optimised,
        head: Some(head),
        has_patchpoints,
        listing,
    };
    if let Some(blob) = compile_inlining(codegen, method, env, wanted(true))? {
        return Ok(blob);
    }
    // What is inlined here may have made a pointer to the frame.
    let made = compile_inlining(codegen, method, env, wanted(false))?;
    made.ok_or_else(|| TranslateError::internal("a loop that cannot be entered").at(method))
}

/// Compiles a method, without inlining if it fails with it. None: it has to be optimised.
fn compile_inlining(
    codegen: &Codegen,
    method: MethodRef,
    env: &dyn CompileEnv,
    wanted: Wanted,
) -> Result<Option<Blob>, CompileError> {
    let tier = wanted.tier;
    // To decide what to inline takes as long as to compile a call.
    let limit = match codegen.recorded().calls || is_brief(method, tier) {
        true => 0,
        false => inline_limit(tier),
    };
    let inlined = compile_with(codegen, method, env, wanted, limit);
    let is_usable = |blob: &Option<Blob>| blob.as_ref().map_or(Ok(()), check_inlined);
    match inlined.and_then(|blob| is_usable(&blob).map(|()| blob)) {
        Ok(blob) => Ok(blob),
        // The second compile reports the method's own errors, and none of an inlined method.
        Err(error) => {
            tracing::debug!(%method, %error, "compiled again without inlining");
            compile_with(codegen, method, env, wanted, 0)
        }
    }
}

/// Whether time for compiling counts more than what the code costs: no other process uses it,
/// and it is called a few times, or compiled again.
fn is_brief(method: MethodRef, tier: Tier) -> bool {
    tier == Tier::Quick && method.is_dynamic()
}

/// Linking makes the VTables of the classes that code names, which fails for one that cannot be
/// loaded. If a callee was inlined, that error may
/// be the callee's.
fn check_inlined(blob: &Blob) -> Result<(), CompileError> {
    match blob.inline_sites.is_empty() {
        true => Ok(()),
        false => Ok(blob.check_classes()?),
    }
}

/// Compiles a method with its own body.
fn compile_with(
    codegen: &Codegen,
    method: MethodRef,
    env: &dyn CompileEnv,
    wanted: Wanted,
    inline_limit: usize,
) -> Result<Option<Blob>, CompileError> {
    let fail = |f: TranslateError| f.at(method);
    let body = method.body().map_err(|e| fail(e.into()))?;
    compile_given(codegen, method, body, env, wanted, inline_limit)
}

/// Compiles a method with a given body, without inlining. For tests.
pub fn compile_body(
    codegen: &Codegen,
    method: MethodRef,
    body: MethodBody<'static>,
    env: &dyn CompileEnv,
    tier: Tier,
) -> Result<Blob, CompileError> {
    let compile = |tier| {
        let wanted = Wanted {
            tier,
            head: None,
            has_patchpoints: false,
            listing: false,
        };
        compile_given(codegen, method, body.clone(), env, wanted, 0)
    };
    match compile(tier)? {
        Some(blob) => Ok(blob),
        None => compile(Tier::Optimised)?
            .ok_or_else(|| TranslateError::internal("a loop that is stuck").at(method)),
    }
}

/// Compiles a method with a given body. `inline_limit` is the largest body, in bytes of IL, that is
/// inlined. None: quick code was wanted, which could not be left in a loop.
///
/// The method and each of its filters are CLIF functions of their own. A filter runs in the first
/// pass of an exception, while the frames below the method still exist, so it cannot be a part of
/// the method's own frame; it reads and writes the method's variables through the frame pointer
/// ([`FrameMap`]).
fn compile_given(
    codegen: &Codegen,
    method: MethodRef,
    body: MethodBody<'static>,
    env: &dyn CompileEnv,
    wanted: Wanted,
    inline_limit: usize,
) -> Result<Option<Blob>, CompileError> {
    let Wanted { tier, listing, .. } = wanted;
    let fail = |f: TranslateError| f.at(method);
    let mut source = source(method, body, env).map_err(fail)?;
    source.inline_limit = inline_limit;
    source.fail_guards = codegen.fails_guards();
    let plan = plan(&source, wanted.head.unwrap_or(0)).map_err(fail)?;
    let signature = source.plan_loops(codegen, &plan, wanted);
    let Some(signature) = signature.map_err(fail)? else {
        return Ok(None);
    };
    // Without a listing the name is needed for errors only, and added there.
    let name = match listing {
        true => method.full_name(),
        false => String::new(),
    };
    let request = Request {
        name: &name,
        signature,
        tier,
        listing,
    };
    let may_count =
        codegen.counts_calls() && may_be_compiled_again(method) && wanted.head.is_none();
    let has_loops = tier == Tier::Optimised || source.replacement.is_some();
    source.notes_callees = may_count && has_loops && env.wants_profile() && !method.is_dynamic();
    let mut made = Translated::default();
    let (mut blob, frame) = codegen
        .function(request, |e| {
            e.is_brief = is_brief(method, tier);
            made = translate(&source, &plan, e, None, &[], &FrameMap::default()).map_err(fail)?;
            let asks = !made.profiled.is_empty() || made.is_early;
            e.counted = (may_count && (tier == Tier::Quick || asks)).then_some(method);
            Ok(())
        })
        .map_err(|e| named(e, method))?;
    // An unmanaged pointer to the frame keeps it where it is.
    let has_patchpoints = source
        .replacement
        .as_ref()
        .is_some_and(|r| r.has_patchpoints);
    if made.has_stuck_loop || has_patchpoints && blob.exposes_frame {
        return Ok(None);
    }
    blob.profiled = made.profiled;
    blob.stats.il_bytes = source.body.code.len() as u32;
    for (n, c) in source.body.clauses.iter().enumerate() {
        let kind = match c.kind {
            EhKind::Catch(token) => ClauseKind::Catch(source.scope.type_(token)?),
            EhKind::Finally => ClauseKind::Finally,
            EhKind::Fault => ClauseKind::Fault,
            EhKind::Filter(offset) => {
                let plan = self::plan(&source, offset).map_err(fail)?;
                if plan.has_filters_within(offset, c.handler_offset) {
                    return Err(fail(TranslateError::invalid("a filter in a filter")));
                }
                // (frame pointer of the method, exception object) -> 1 if the handler runs.
                let mut signature = Signature::new(CallConv::Tail);
                signature
                    .params
                    .extend([AbiParam::new(I64), AbiParam::new(I64)]);
                signature.returns.push(AbiParam::new(I32));
                let request = Request {
                    name: &name,
                    signature,
                    tier,
                    listing,
                };
                let (filter, _) = codegen
                    .function(request, |e| {
                        translate(&source, &plan, e, Some(n), &made.variables, &frame)
                            .map_err(fail)?;
                        Ok(())
                    })
                    .map_err(|e| named(e, method))?;
                blob.filters.push(filter);
                ClauseKind::Filter(blob.filters.len() as u32 - 1)
            }
        };
        blob.clauses.push(Clause { kind });
    }
    // A filter may contain a `try`. Its handlers have the numbers of the method's clauses.
    for filter in &mut blob.filters {
        filter.clauses = blob.clauses.clone();
    }
    // The clause of the landing pad that leaves the monitor ([`translator::Body::sync`]). It is the
    // last one, so every other handler comes first.
    if method.is_synchronized() {
        blob.clauses.push(Clause {
            kind: ClauseKind::Fault,
        });
    }
    if let Some(text) = &mut blob.listing {
        let il: String = plan.instrs.iter().map(|i| format!("{i}\n")).collect();
        *text = format!("{il}{text}");
        for f in &blob.filters {
            text.push_str(f.listing.as_deref().unwrap_or_default());
        }
    }
    Ok(Some(blob))
}

/// Whether code of that tier is to be left in its loops, once they have run for long.
fn wants_patchpoints(codegen: &Codegen, method: MethodRef, tier: Tier) -> bool {
    tier == Tier::Quick
        && codegen.counts_calls()
        && !codegen.recorded().calls
        && tiers::has_replaceable_loops(method)
}

/// Adds the method's name to an error that has none.
fn named(e: CompileError, m: MethodRef) -> CompileError {
    match e {
        CompileError::Internal {
            method,
            offset,
            reason,
        } if method.is_empty() => CompileError::Internal {
            method: m.full_name(),
            offset,
            reason,
        },
        e => e,
    }
}

/// Collects what the translation of a method needs.
fn source<'a>(
    method: MethodRef,
    body: MethodBody<'static>,
    env: &'a dyn CompileEnv,
) -> Res<Source<'a>> {
    let scope = method.scope();
    let sig = method.sig()?;
    let lowered = LoweredSignature::of(sig)?;
    let mut arg_classes = Vec::with_capacity(sig.params.len() + 1);
    if lowered.has_this {
        let class = method.class;
        arg_classes.push(if class.is_value_type()? {
            class.universe().byref(class)
        } else {
            class
        });
    }
    arg_classes.extend(sig.params.iter().copied());
    let locals = if body.local_sig.is_nil() {
        Vec::new()
    } else {
        scope.locals(body.local_sig)?
    };
    for named in sig.params.iter().chain([&sig.ret]) {
        named.check_named()?;
    }
    for local in &locals {
        local.ty.check_named()?;
    }
    if locals.len() > 65535 {
        return Err(TranslateError::invalid("too many locals"));
    }
    Ok(Source {
        method,
        env,
        lowered,
        body,
        arg_classes,
        locals,
        scope,
        inline_limit: 0,
        fail_guards: false,
        notes_callees: false,
        replacement: None,
    })
}

impl Source<'_> {
    /// Plans how loops are left, or entered. The signature of the code; None: the loops cannot
    /// be left, or not be entered.
    fn plan_loops(
        &mut self,
        codegen: &Codegen,
        plan: &Plan,
        wanted: Wanted,
    ) -> Res<Option<Signature>> {
        let own = self.lowered.clif.clone();
        let is_entered = wanted.head.is_some();
        if !is_entered
            && (plan.back_edges.is_empty() || !wants_patchpoints(codegen, self.method, wanted.tier))
        {
            return Ok(Some(own));
        }
        let module = self.method.class.module;
        let variables = (&self.arg_classes[..], &self.locals[..]);
        let replacement = Replacement::of(plan, &self.lowered, variables.0, variables.1, module)?;
        let Some(mut replacement) = replacement else {
            return Ok(None);
        };
        let signature = match is_entered {
            true => replacement.signature.clone(),
            false => own,
        };
        replacement.enter_at(wanted.head, codegen.loop_iterations());
        replacement.has_patchpoints = !is_entered || wanted.has_patchpoints;
        self.replacement = Some(replacement);
        Ok(Some(signature))
    }
}

/// The control-flow graph of the method (`entry` 0), or of the filter that begins at `entry`.
fn plan(source: &Source<'_>, entry: u32) -> Res<Plan> {
    Plan::new(
        &source.body,
        entry,
        source.arg_classes.len(),
        source.locals.len(),
    )
}

/// What a translation gives beside the code.
#[derive(Default)]
struct Translated {
    /// The variables, which the filters of a method need.
    variables: Vec<Variable>,
    /// The calls that note their callees.
    profiled: Vec<ProfiledCall>,
    /// Whether the code would be better if a class were initialised that is not.
    is_early: bool,
    /// Whether a loop turned out to be one that cannot be left.
    has_stuck_loop: bool,
}

/// Emits one CLIF function: the method, or one of its filters. `parent` and `frame` are those
/// of the method when a filter is emitted.
fn translate(
    source: &Source<'_>,
    plan: &Plan,
    e: &mut Emitter<'_>,
    filter: Option<usize>,
    parent: &[Variable],
    frame: &FrameMap,
) -> Res<Translated> {
    let params = e.params();
    let liveness = if plan.clauses.is_empty() || filter.is_some() {
        None
    } else {
        Some(plan.liveness()?)
    };
    let has_filters = plan.has_filters_within(0, u32::MAX);
    if e.optimises && !has_filters && filter.is_none() {
        e.notes.allow();
    }
    let mut session = Session::new(source.method, source.inline_limit, has_filters);
    session.is_filter = filter.is_some();
    session.fail_guards = source.fail_guards;
    let notes = source.notes_callees && filter.is_none();
    session.profiled = notes.then(Vec::new);
    session.replacement = source.replacement.clone();
    session.sequence_points = source.env.sequence_points(source.method);
    let mut t = Translator {
        e,
        env: source.env,
        session: &mut session,
        body: Body {
            init_locals: source.body.init_locals,
            liveness,
            params,
            filter,
            ..Body::new(source.method, plan, &source.lowered)
        },
    };
    t.e.at(if let Some(n) = filter {
        plan.clauses[n].handler_offset
    } else {
        0
    });
    if filter.is_none() && source.method.sig()?.call_conv == vervet_metadata::CallConvKind::VarArg {
        // The caller has put the address of the variable arguments into `context.hidden`. It is
        // saved first of all, because any call would overwrite the word.
        let block = t.e.load_context(I64, vervet_abi::context::HIDDEN);
        let slot = t.e.slot(8);
        let at = t.e.slot_addr(slot);
        t.e.b.ins().store(crate::emit::trusted(), block, at, 0);
        t.body.own_var_args = Some(slot);
    }
    t.prepare_blocks();
    t.prepare_clauses()?;
    match filter {
        None => t.prologue(&source.arg_classes, &source.locals)?,
        Some(_) => t.filter_prologue(&source.arg_classes, &source.locals, parent, frame)?,
    }
    t.run()?;
    Ok(Translated {
        variables: t.body.variables,
        is_early: notes && session.is_early,
        has_stuck_loop: session.has_stuck_loop,
        profiled: session.profiled.unwrap_or_default(),
    })
}
