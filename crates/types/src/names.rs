//! Names of types and methods as text, and types by name as text.
//!
//! # Invariants
//! What is printed in a style that can be read is read back to the same type.
use crate::*;

impl Class {
    /// `System.Collections.Generic.Dictionary`2+Enumerator[System.Int32,System.String]`, as `Type.ToString()`.
    pub fn full_name(&self) -> String {
        todo!()
    }
    /// As `Type.FullName`: arguments with their assemblies. None for types that have no full name.
    pub fn reflection_name(&'static self) -> Option<String> {
        todo!()
    }
    /// As `Type.AssemblyQualifiedName`.
    pub fn assembly_qualified_name(&'static self) -> Option<String> {
        todo!()
    }
}
impl Method {
    /// `Namespace.Type:Name (int,string)`.
    pub fn full_name(&self) -> String {
        todo!()
    }
    /// As a line of a stack trace: `Namespace.Type.Name (System.Int32 x, System.String y)`.
    pub fn trace_name(&'static self) -> String {
        todo!()
    }
}
