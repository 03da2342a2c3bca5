//! Native halves of System.Reflection.Emit. What they share is in [`crate::support::emit`].
pub mod assembly_builder;
pub mod custom_attribute_builder;
pub mod dynamic_method;
pub mod enum_builder;
pub mod module_builder;
pub mod signature_helper;
pub mod type_builder;
