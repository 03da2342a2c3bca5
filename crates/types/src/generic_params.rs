//! Generic parameters of types and methods, and their constraints (ECMA-335 II.22.20, II.22.21).
//!
//! # Invariants
//! Each generic parameter is a class of its own, made once for the definition that declares it. The
//! parameters of a definition are numbered from 0 without a gap.
use crate::class::{Nature, type_flags};
use crate::*;
use vervet_metadata::Table;

/// The generic parameters of a TypeDef or MethodDef row of a module.
pub(crate) fn make_params(
    owner: ClassRef,
    module: ModuleRef,
    owner_token: Token,
) -> R<Vec<ClassRef>> {
    let mut params: Vec<ClassRef> = Vec::new();
    let mut rows = Vec::new();
    for rid in module.image.generic_params_of(owner_token) {
        rows.push((
            module.image.generic_param(rid).map_err(|e| module.bad(e))?,
            rid,
        ));
    }
    rows.sort_by_key(|(row, _)| row.number);
    for (i, (row, rid)) in rows.into_iter().enumerate() {
        if row.number as usize != i {
            return Err(LoadError::bad_image(
                module,
                format!("{owner_token}: generic parameters are not numbered in order"),
            ));
        }
        let name = module.string(row.name)?;
        params.push(owner.universe().add_class(|id| Class {
            kind: ClassKind::GenericParam {
                rid,
                index: i as u32,
                owner,
                owner_token,
            },
            id,
            module,
            flags: type_flags::PUBLIC,
            namespace: owner.namespace,
            name,
            prim: None,
            is_open: true,
            inst_depth: 0,
            weight: 1,
            nature: Nature::Reference,
            cells: Default::default(),
        }));
    }
    Ok(params)
}

impl Class {
    /// Its generic parameters (definitions; an instantiation answers its definition's).
    pub fn params(&'static self) -> R<&'static [ClassRef]> {
        match &self.kind {
            ClassKind::Def { .. } if !self.is_open => Ok(&[]),
            ClassKind::Def { params, .. } => match params.get() {
                Some(p) => Ok(p),
                None => Ok(params.get_or_try(|| make_params(self, self.module, self.token()))?),
            },
            ClassKind::Inst { def, .. } => def.params(),
            _ => Ok(&[]),
        }
    }
    /// GenericParamAttributes of a generic parameter (II.23.1.7); 0 for other types.
    pub fn param_flags(&self) -> R<u32> {
        match self.kind {
            ClassKind::GenericParam { rid, .. } => {
                let row = self.module.image.generic_param(rid);
                row.map(|row| row.flags.into()).map_err(LoadError::from)
            }
            _ => Ok(0),
        }
    }
    /// The constraints of a generic parameter.
    pub fn param_constraints(&'static self) -> R<Vec<ClassRef>> {
        let ClassKind::GenericParam {
            rid,
            owner,
            owner_token,
            ..
        } = self.kind
        else {
            return Ok(Vec::new());
        };
        let image = &self.module.image;
        let scope = if owner_token.is(Table::MethodDef) {
            self.module.method_def(owner_token.rid())?.scope()
        } else {
            owner.scope()
        };
        let mut list = Vec::new();
        for row in image.generic_param_constraints_of(rid) {
            let row = image
                .generic_param_constraint(row)
                .map_err(|e| self.module.bad(e))?;
            list.push(scope.type_(row.constraint)?);
        }
        Ok(list)
    }
    /// The method that declares a generic parameter, if it is a method's.
    pub fn declaring_method(&'static self) -> R<Option<MethodRef>> {
        match self.kind {
            ClassKind::GenericParam { owner_token, .. } if owner_token.is(Table::MethodDef) => {
                self.module.method_def(owner_token.rid()).map(Some)
            }
            _ => Ok(None),
        }
    }
}
