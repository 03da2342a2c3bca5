//! Native halves of the namespace System in mscorlib, and of the namespaces below it.
pub mod arg_iterator;
pub mod array;
pub mod buffer;
pub mod clr_config;
pub mod console_driver;
pub mod console_interrupt;
pub mod datetime;
pub mod environment;
pub mod gc;
pub mod gc_handle;
pub mod globalization;
pub mod io;
pub mod math;
pub mod mathf;
pub mod number_formatter;
pub mod object;
pub mod runtime;
pub mod security;
pub mod string;
pub mod text;
pub mod threading;
pub mod value_type;

use vervet_runtime::icall::Icall;

/// The tables of these namespaces.
pub fn tables() -> Vec<&'static [Icall]> {
    let mut all: Vec<&'static [Icall]> = vec![
        arg_iterator::ICALLS,
        array::ICALLS,
        buffer::ICALLS,
        clr_config::CLR_CONFIG,
        clr_config::DEBUGGER,
        clr_config::VERSIONING_HELPER,
        clr_config::EVIDENCE,
        clr_config::SECURITY_MANAGER,
        console_driver::ICALLS,
        datetime::ICALLS,
        environment::ICALLS,
        gc::ICALLS,
        gc_handle::ICALLS,
        math::ICALLS,
        mathf::ICALLS,
        number_formatter::NUMBER_FORMATTER,
        number_formatter::SYS,
        object::ICALLS,
        string::ICALLS,
        value_type::ICALLS,
    ];
    all.extend(globalization::tables());
    all.extend(io::tables());
    all.extend(runtime::tables());
    all.extend(security::tables());
    all.extend(text::tables());
    all.extend(threading::tables());
    all
}
