//! What travels from quick code to code that is entered at the head of a loop, and which methods' loops can be left (module `replacement`).
//!
//! # Invariants
//! * The answers depend on the method alone, so that both sides agree.
//! * All that a struct's slot holds travels, whether a field lies there or not.
use crate::signature::{LoweredSignature, scalar_kind};
use crate::translate::control::control_flow::{ADDRESS, Plan, READ, WRITTEN, in_handler, in_try};
use crate::translate::error::Res;
use crate::translate::values::stack::{StackType, stack_type_of};
use cranelift_codegen::ir::{AbiParam, Signature, Type, types::*};
use cranelift_frontend::Variable as SsaVariable;
use smallvec::SmallVec;
use std::rc::Rc;
use vervet_metadata::Token;
use vervet_metadata::il::{Instr, Op};
use vervet_types::resolve::Local;
use vervet_types::{ClassRef, ModuleRef, ScalarKind};

/// After how many iterations of a loop other code is asked for in code that has another loop as
/// its entry: an iteration takes long, because the loop at the entry has run for long.
const OUTER_PERIOD: u32 = 16;
/// Methods that would carry more words have no patchpoints.
const MOST: usize = 48;

/// How the value of a variable travels to the code that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// As a value of that type.
    Scalar(Type),
    /// As so many words of its slot.
    Words(u32),
}

/// A variable whose value travels: its number, arguments first, and how.
type Carried = (usize, Form);

/// What leaving the loops of a method takes. See the module.
#[derive(Clone)]
pub struct Replacement {
    pub(super) carried: Rc<[Carried]>,
    /// The signature of the code that is entered at a loop.
    pub signature: Signature,
    /// The IL offset of the head at which this code is entered; None: it is entered at the method's start.
    pub head: Option<u32>,
    /// Whether this code has patchpoints.
    pub has_patchpoints: bool,
    /// After how many iterations it asks for other code.
    pub(super) period: u32,
}

/// What the patchpoints of the code that is being translated count with.
#[derive(Clone, Copy)]
pub struct Countdown(pub(super) SsaVariable);

impl Replacement {
    /// What leaving the loops takes. None: the method has no loop, or one cannot be left.
    pub fn of(
        plan: &Plan,
        lowered: &LoweredSignature,
        args: &[ClassRef],
        locals: &[Local],
        module: ModuleRef,
    ) -> Res<Option<Replacement>> {
        let is_covered = |head: u32| {
            let covers = |clause| in_try(clause, head) || in_handler(clause, head);
            plan.clauses.iter().any(covers)
        };
        if plan.back_edges.is_empty()
            || plan.has_localloc
            || plan.has_filters_within(0, u32::MAX)
            || plan.back_edges.iter().any(|edge| is_covered(edge.0))
            || may_be_pointed_to(plan, args, locals, module)?
        {
            return Ok(None);
        }
        let carried = carried(plan, args, locals)?;
        let mut signature = lowered.clif.clone();
        for (_, form) in &carried {
            match form {
                Form::Scalar(ty) => signature.params.push(AbiParam::new(*ty)),
                Form::Words(count) => {
                    let words = std::iter::repeat_n(AbiParam::new(I64), *count as usize);
                    signature.params.extend(words);
                }
            }
        }
        // Whether the code begins at the head: it always does.
        signature.params.push(AbiParam::new(I32));
        if signature.params.len() > MOST {
            return Ok(None);
        }
        Ok(Some(Replacement {
            carried: carried.into(),
            signature,
            head: None,
            has_patchpoints: true,
            period: 1,
        }))
    }

    /// The code is entered at the method's start, or at the head of a loop; quick code asks
    /// after so many iterations.
    pub fn enter_at(&mut self, head: Option<u32>, period: u32) {
        self.head = head;
        self.period = match head {
            None => period,
            Some(_) => period.min(OUTER_PERIOD),
        };
    }
}

/// Whether a pointer to a variable may exist that nobody notices being made, or a variable may hold the
/// address of one, or of a part of one: its frame cannot go while that is used.
fn may_be_pointed_to(
    plan: &Plan,
    args: &[ClassRef],
    locals: &[Local],
    module: ModuleRef,
) -> Res<bool> {
    let is_addressed = |flags: &u8| flags & ADDRESS != 0;
    if !plan.args.iter().chain(&plan.locals).any(is_addressed) {
        return Ok(false);
    }
    // Where paths join, it is not known what a conversion to an unmanaged pointer converts.
    let converts = |i: &Instr<'_>| matches!(i.op, Op::ConvU | Op::ConvI);
    if may_keep_pointers(module) || plan.instrs.iter().any(converts) {
        return Ok(true);
    }
    let changes = |flags: u8| flags & (WRITTEN | ADDRESS) != 0;
    let written = plan.args.iter().zip(args).filter(|(f, _)| changes(**f));
    let used = plan.locals.iter().zip(locals).filter(|(f, _)| **f != 0);
    let classes = written
        .map(|(_, class)| *class)
        .chain(used.map(|(_, local)| local.ty));
    for class in classes {
        if may_hold_address(class)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether methods of the module may make unmanaged pointers of managed ones and keep them: its compiler
/// says that it has unsafe code. The core library's methods keep none.
fn may_keep_pointers(module: ModuleRef) -> bool {
    /// The row of the module itself.
    const MODULE: Token = Token(1);
    let attribute = "UnverifiableCodeAttribute";
    !module.is_corlib() && module.has_attribute(MODULE, "System.Security", attribute)
}

/// Whether a value of the class may be, or contain, an address other than a reference.
pub fn may_hold_address(class: ClassRef) -> Res<bool> {
    match stack_type_of(class)? {
        StackType::ByRef | StackType::Native => Ok(true),
        StackType::Struct => {
            let mut pieces = Pieces::new();
            let is_known = find_pieces(class, 0, &mut pieces)?;
            Ok(!is_known || pieces.iter().any(|piece| piece.kind == ScalarKind::Ptr))
        }
        _ => Ok(false),
    }
}

/// A scalar within a struct.
pub(super) struct Piece {
    pub(super) offset: u32,
    pub(super) kind: ScalarKind,
}
pub(super) type Pieces = SmallVec<[Piece; 8]>;

/// Adds the scalars that a value of the class at that offset consists of. False: they cannot be told.
pub(super) fn find_pieces(class: ClassRef, offset: u32, pieces: &mut Pieces) -> Res<bool> {
    /// Structs of more scalars are not looked into.
    const MOST: usize = 64;
    if pieces.len() > MOST {
        return Ok(false);
    }
    match stack_type_of(class)? {
        StackType::Struct => {
            for field in class.fields()?.iter().filter(|field| !field.is_static()) {
                if !find_pieces(field.ty()?, offset + field.offset()?, pieces)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        StackType::ByRef => {
            let kind = ScalarKind::Ptr;
            pieces.push(Piece { offset, kind });
            Ok(true)
        }
        _ => {
            let kind = scalar_kind(class);
            pieces.push(Piece { offset, kind });
            Ok(true)
        }
    }
}

/// A part of a word of a struct: a scalar, or what lies between two.
pub(super) struct Part {
    pub(super) offset: u32,
    pub(super) ty: Type,
}

/// The parts of a word, without a gap: its scalars, and what lies between them. None: a scalar crosses
/// the word's borders, or two overlap.
pub(super) fn cut(pieces: &[Piece], word: u32) -> Option<SmallVec<[Part; 8]>> {
    let (start, end) = (8 * word, 8 * word + 8);
    let mut parts = SmallVec::new();
    let mut at = start;
    // The largest aligned parts up to there.
    let fill = |parts: &mut SmallVec<[Part; 8]>, mut from: u32, to: u32| {
        while from < to {
            let fits = |size: &u32| from.is_multiple_of(*size) && from + size <= to;
            let size = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
            let ty = Type::int(8 * size as u16).expect("a power of two");
            parts.push(Part { offset: from, ty });
            from += size;
        }
    };
    let touches = |p: &&Piece| p.offset < end && p.offset + p.kind.size() > start;
    for piece in pieces.iter().filter(touches) {
        let behind = piece.offset + piece.kind.size();
        if piece.offset < at || behind > end {
            return None;
        }
        fill(&mut parts, at, piece.offset);
        let ty = match piece.kind {
            ScalarKind::R4 => F32,
            ScalarKind::R8 => F64,
            kind => Type::int(8 * kind.size() as u16).expect("a power of two"),
        };
        parts.push(Part {
            offset: piece.offset,
            ty,
        });
        at = behind;
    }
    fill(&mut parts, at, end);
    Some(parts)
}

/// The variables whose values travel.
fn carried(plan: &Plan, args: &[ClassRef], locals: &[Local]) -> Res<Vec<Carried>> {
    let mut carried = Vec::new();
    for (n, (flags, class)) in plan.args.iter().zip(args).enumerate() {
        if flags & (ADDRESS | WRITTEN) != 0 {
            carried.push((n, form(class, flags & ADDRESS != 0)?));
        }
    }
    for (n, (flags, local)) in plan.locals.iter().zip(locals).enumerate() {
        let is_in_slot = local.pinned || flags & ADDRESS != 0;
        let form = match flags {
            0 => continue,
            _ => form(local.ty, is_in_slot)?,
        };
        // What is only written lives nowhere.
        if matches!(form, Form::Words(_)) || flags & READ != 0 {
            carried.push((plan.args.len() + n, form));
        }
    }
    Ok(carried)
}

fn form(class: ClassRef, is_in_slot: bool) -> Res<Form> {
    Ok(match stack_type_of(class)? {
        StackType::Struct => Form::Words(class.layout()?.size.max(1).div_ceil(8)),
        _ if is_in_slot => Form::Words(1),
        kind => Form::Scalar(kind.clif()),
    })
}
