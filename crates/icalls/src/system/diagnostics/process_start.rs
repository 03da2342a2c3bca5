//! Native half of System.Diagnostics.Process: starting processes.
//!
//! Keeps nothing; a started process is a child handle of [`vervet_runtime::threads::wait_handles`]. A program that is a managed image is
//! started through this very runtime.
use crate::support::error_numbers;
use crate::support::fields::{field_offset, string_field};
use crate::system::diagnostics::file_version_info;
use crate::system::diagnostics::process::own_program;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads::wait_handles;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::LoadError;

/// ERROR_BAD_EXE_FORMAT.
const BAD_FORMAT: i32 = 193;
/// ERROR_NO_ASSOCIATION.
const NO_ASSOCIATION: i32 = 1155;

/// A blank of C, which has one more than Rust.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// What the system sees of a text: it ends at the first NUL.
fn until_nul(text: String) -> String {
    match text.find('\0') {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Splits a command line as a shell would (blanks, both quotes, backslash), but that a blank behind a backslash is nothing and a backslash at the
/// end of a line within quotes stays: as in mono. What was left open if it does not end so, in mono's words.
pub fn split(line: &str) -> std::result::Result<Vec<String>, &'static str> {
    const QUOTE: &str = "Unfinished quote.";
    const ESCAPE: &str = "Unfinished escape.";
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let w = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(QUOTE)? {
                        '\'' => break,
                        c => w.push(c),
                    }
                }
            }
            '"' => {
                let w = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(QUOTE)? {
                        '"' => break,
                        '\\' => match chars.next().ok_or(ESCAPE)? {
                            c @ ('$' | '`' | '"' | '\\') => w.push(c),
                            c => w.extend(['\\', c]),
                        },
                        c => w.push(c),
                    }
                }
            }
            '\\' => match chars.next().ok_or(ESCAPE)? {
                c if is_blank(c) => {}
                c => word.get_or_insert_default().push(c),
            },
            c if is_blank(c) => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Is it a portable executable with a CLI header?
fn is_managed(path: &Path) -> bool {
    use std::io::Read;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(4096).read_to_end(&mut head));
    if read.is_err() || !head.starts_with(b"MZ") {
        return false;
    }
    let u32_at = |at: usize| {
        head.get(at..at + 4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
    };
    let Some(pe) = u32_at(0x3c).map(|p| p as usize) else {
        return false;
    };
    if head.get(pe..pe + 4) != Some(b"PE\0\0") {
        return false;
    }
    let optional = pe + 24;
    let directories = match head.get(optional..optional + 2) {
        Some([0x0b, 0x01]) => optional + 96,
        Some([0x0b, 0x02]) => optional + 112,
        _ => return false,
    };
    u32_at(directories + 14 * 8).is_some_and(|rva| rva != 0)
}
/// access(2); false for a path with a NUL.
fn access(path: &Path, mode: i32) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path is NUL-terminated.
    unsafe { libc::access(path.as_ptr(), mode) == 0 }
}
/// The file a program's name stands for: in the directory of this process, not of the one to be, or on the search path.
fn locate(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_absolute() {
        return path.is_file().then(|| path.to_path_buf());
    }
    let mut places: Vec<PathBuf> = std::env::current_dir().into_iter().collect();
    if !name.contains('/') {
        let search = crate::system::environment::variable(c"PATH").unwrap_or_default();
        places.extend(
            search
                .split(':')
                .filter(|p| !p.is_empty())
                .map(PathBuf::from),
        );
    }
    places.iter().map(|p| p.join(path)).find(|p| p.is_file())
}

/// What is to be started.
struct Command {
    program: String,
    /// ERROR_PATH_NOT_FOUND if the text has half a pair of surrogates, as in mono.
    arguments: std::result::Result<String, i32>,
    directory: Option<String>,
    /// `K=V`; None inherits.
    environment: Option<Vec<String>>,
    /// Descriptors that become 0, 1 and 2.
    streams: [i32; 3],
}

/// May a process work in that directory?
fn can_enter(directory: &Path) -> bool {
    directory.is_dir() && access(directory, libc::X_OK)
}
/// A child that ends as mono's does when it finds out that it cannot enter its directory: with 255, and without a word.
fn ends_with_255() -> std::result::Result<i32, i32> {
    wait_handles::process::will_have_children();
    // SAFETY: the child runs nothing but the system call that ends it, which takes no lock and no memory. The handlers for forks, which run ours, are those of
    // the C library's function.
    unsafe {
        match libc::syscall(libc::SYS_fork) {
            -1 => Err(error_numbers::last()),
            0 => loop {
                libc::syscall(libc::SYS_exit_group, 255);
            },
            pid => Ok(pid as i32),
        }
    }
}

/// Starts it: the process id, or the error number.
fn spawn(command: &Command) -> std::result::Result<i32, i32> {
    let file = locate(&command.program).ok_or(error_numbers::FILE_NOT_FOUND)?;
    let mut words = Vec::new();
    let mut image = file.clone();
    if access(&file, libc::R_OK) && is_managed(&file) {
        image = std::env::current_exe().map_err(|_| error_numbers::FILE_NOT_FOUND)?;
        words.push(image.as_os_str().as_bytes().to_vec());
    } else if !access(&file, libc::X_OK) {
        return Err(error_numbers::ACCESS_DENIED);
    }
    words.push(file.as_os_str().as_bytes().to_vec());
    let arguments = split(command.arguments.as_ref().map_err(|e| *e)?).map_err(|open| {
        println!("process_create: {open}\n");
        error_numbers::SUCCESS
    })?;
    words.extend(arguments.into_iter().map(String::into_bytes));
    let directory = command.directory.as_deref();
    if directory.is_some_and(|d| !can_enter(Path::new(d))) {
        return ends_with_255();
    }
    let c = |b: Vec<u8>| CString::new(b).map_err(|_| error_numbers::INVALID_PARAMETER);
    let image = c(image.as_os_str().as_bytes().to_vec())?;
    let argv = words
        .into_iter()
        .map(c)
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let environment = match &command.environment {
        Some(e) => e.iter().map(|v| v.clone().into_bytes()).collect(),
        None => std::env::vars_os()
            .map(|(k, v)| [k.as_bytes(), b"=", v.as_bytes()].concat())
            .collect::<Vec<_>>(),
    };
    let envp = environment
        .into_iter()
        .map(c)
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let directory = directory.map(|d| c(d.as_bytes().to_vec())).transpose()?;
    let pointers = |v: &[CString]| {
        v.iter()
            .map(|s| s.as_ptr().cast_mut())
            .chain([std::ptr::null_mut()])
            .collect::<Vec<_>>()
    };
    let (argv_p, envp_p) = (pointers(&argv), pointers(&envp));
    wait_handles::process::will_have_children();

    // The streams are moved out of the way of 0, 1 and 2 first, so that none overwrites another.
    let mut moved = [-1; 3];
    for (to, from) in moved.iter_mut().zip(command.streams) {
        // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
        *to = unsafe { libc::fcntl(from, libc::F_DUPFD_CLOEXEC, 10) };
    }
    // SAFETY: every record is initialised before it is used and destroyed after; strings and arrays outlive the call.
    let result = unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        let mut attributes: libc::posix_spawnattr_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        libc::posix_spawnattr_init(&mut attributes);
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::posix_spawnattr_setsigmask(&mut attributes, &signals);
        libc::sigfillset(&mut signals);
        libc::posix_spawnattr_setsigdefault(&mut attributes, &signals);
        libc::posix_spawnattr_setflags(
            &mut attributes,
            (libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF) as i16,
        );
        for (to, from) in moved.iter().enumerate().filter(|(_, from)| **from >= 0) {
            libc::posix_spawn_file_actions_adddup2(&mut actions, *from, to as i32);
        }
        libc::posix_spawn_file_actions_addclosefrom_np(&mut actions, 3);
        if let Some(d) = &directory {
            libc::posix_spawn_file_actions_addchdir_np(&mut actions, d.as_ptr());
        }
        let mut pid = 0;
        let r = libc::posix_spawn(
            &mut pid,
            image.as_ptr(),
            &actions,
            &attributes,
            argv_p.as_ptr(),
            envp_p.as_ptr(),
        );
        libc::posix_spawn_file_actions_destroy(&mut actions);
        libc::posix_spawnattr_destroy(&mut attributes);
        match r {
            0 => Ok(pid),
            libc::ENOENT => Err(error_numbers::FILE_NOT_FOUND),
            libc::ENOEXEC => Err(BAD_FORMAT),
            e => Err(error_numbers::from_errno(e)),
        }
    };
    for fd in moved.into_iter().filter(|fd| *fd >= 0) {
        // SAFETY: the descriptor is ours.
        unsafe { libc::close(fd) };
    }
    result
}

/// Address of a field of the ProcInfo that managed code passed.
fn info_field<'cx>(
    cx: &'cx Cx<'cx>,
    start: ObjRef<'cx>,
    info: *mut u8,
    name: &str,
) -> Result<*mut u8> {
    let module = start.class().module;
    let process = cx.load(module.find_type("System.Diagnostics", "Process"))?;
    let process =
        cx.load(process.ok_or_else(|| LoadError::missing_field(start.class(), "Process")))?;
    let class = cx
        .load(process.nested_types())?
        .iter()
        .find(|c| c.name == "ProcInfo")
        .copied();
    let class = cx.load(class.ok_or_else(|| LoadError::missing_field(process, "ProcInfo")))?;
    let field = crate::support::fields::find_field(cx, class, name)?;
    let offset = cx.load(field.offset())? as usize;
    // SAFETY: the field lies in the struct.
    Ok(unsafe { info.add(offset) })
}
/// Reads a ProcessStartInfo and the struct that managed code filled from it.
fn command<'cx>(
    cx: &'cx Cx<'cx>,
    start: ObjRef<'cx>,
    info: *mut u8,
    streams: [i32; 3],
) -> Result<Command> {
    let variables = info_field(cx, start, info, "envVariables")? as *const usize;
    // SAFETY: the field holds a string array or null.
    let variables: ObjRef<'cx> = unsafe { ObjRef::from_addr(variables.read()) };
    let environment = variables.non_null().map(|v| {
        (0..v.array_len())
            .map(|i| v.element_ref(i))
            .filter(|s| !s.is_null())
            .map(|v| until_nul(v.text()))
            .collect()
    });
    let text = |name| Ok(string_field(cx, start, name)?.map(until_nul));
    let at = field_offset(cx, start.class(), "arguments")?;
    let arguments = start.read_ref(at).non_null();
    Ok(Command {
        program: text("fileName")?.unwrap_or_default(),
        arguments: match arguments.map(ObjRef::units) {
            Some(units) => String::from_utf16(units)
                .map(until_nul)
                .map_err(|_| error_numbers::PATH_NOT_FOUND),
            None => Ok(String::new()),
        },
        directory: text("directory")?.filter(|d| !d.is_empty()),
        environment,
        streams,
    })
}
/// Stores a process, or an error, into the ProcInfo.
fn finish<'cx>(
    cx: &'cx Cx<'cx>,
    start: ObjRef<'cx>,
    info: *mut u8,
    result: std::result::Result<i32, i32>,
) -> Result<bool> {
    let (handle, pid) = match result {
        Ok(pid) => (wait_handles::process::create(pid, true) as isize, pid),
        Err(e) => (-1, -e),
    };
    let handle_at = info_field(cx, start, info, "process_handle")? as *mut isize;
    let pid_at = info_field(cx, start, info, "pid")? as *mut i32;
    // SAFETY: both are fields of the struct that managed code passed.
    unsafe {
        handle_at.write(handle);
        pid_at.write(pid);
    }
    Ok(result.is_ok())
}

/// The files of /proc/PID/maps, in order: the lowest address, the end, the path.
pub fn mapped_files(maps: &str) -> Vec<(u64, u64, &str)> {
    let mut found: Vec<(u64, u64, &str)> = Vec::new();
    for line in maps.lines() {
        let Some((range, rest)) = line.split_once(' ') else {
            continue;
        };
        let (Some((low, high)), Some(at)) = (range.split_once('-'), rest.find('/')) else {
            continue;
        };
        let number = |s| u64::from_str_radix(s, 16).unwrap_or(0);
        let (low, high, file) = (number(low), number(high), &rest[at..]);
        match found.iter_mut().find(|f| f.2 == file) {
            Some(f) => f.1 = f.1.max(high),
            None => found.push((low, high, file)),
        }
    }
    found
}

icalls! {
    /// False, and the negative error number as `pid`, if it cannot be started.
    "System.Diagnostics.Process::CreateProcess_internal" fn create_process(cx, start: ObjRef<'cx>, stdin: isize, stdout: isize, stderr: isize, info: *mut u8) -> bool {
        let start = cx.non_null(start)?;
        let command = command(cx, start, info, [stdin as i32, stdout as i32, stderr as i32])?;
        let result = cx.native(|| spawn(&command));
        finish(cx, start, info, result)
    }
    /// As above for programs; anything else is handed to the desktop's opener, without a handle.
    "System.Diagnostics.Process::ShellExecuteEx_internal" fn shell_execute(cx, start: ObjRef<'cx>, info: *mut u8) -> bool {
        let start = cx.non_null(start)?;
        let mut command = command(cx, start, info, [0, 1, 2])?;
        let result = cx.native(|| spawn(&command));
        let Err(error) = result else { return finish(cx, start, info, result) };
        let document = command.program.contains("://") || Path::new(&command.program).exists();
        if !document || !matches!(error, error_numbers::FILE_NOT_FOUND | error_numbers::ACCESS_DENIED | BAD_FORMAT) {
            return finish(cx, start, info, Err(error));
        }
        command.arguments = Ok(format!("'{}'", command.program.replace('\'', "'\\''")));
        command.program = "xdg-open".into();
        let opened = cx.native(|| spawn(&command));
        let at = info_field(cx, start, info, "process_handle")? as *mut isize;
        finish(cx, start, info, opened.map_err(|_| NO_ASSOCIATION))?;
        if opened.is_ok() {
            // SAFETY: a field of the struct that managed code passed.
            unsafe {
                wait_handles::close(at.read() as usize);
                at.write(0);
            }
        }
        Ok(opened.is_ok())
    }
    /// The files that are mapped executable; of this process the assemblies, too, under names of their own. The first module of this process is its
    /// executable under the name of the program.
    "System.Diagnostics.Process::GetModules_icall" fn get_modules(cx, this: ObjRef<'cx>, handle: isize) -> ObjRef<'cx> {
        let module = cx.non_null(this)?.class().module;
        let class = cx.load(module.find_type("System.Diagnostics", "ProcessModule"))?;
        let class = cx.load(class.ok_or_else(|| LoadError::missing_field(this.class(), "ProcessModule")))?;
        let version = cx.load(module.find_type("System.Diagnostics", "FileVersionInfo"))?;
        let version = cx.load(version.ok_or_else(|| LoadError::missing_field(this.class(), "FileVersionInfo")))?;
        let pid = crate::microsoft::win32::native_methods::pid_of(handle);
        let is_own = pid.is_some_and(|pid| pid as u32 == std::process::id());
        let assemblies = if is_own { cx.loader().assemblies() } else { Vec::new() };
        let maps = pid
            .and_then(|pid| std::fs::read(format!("/proc/{pid}/maps")).ok())
            .unwrap_or_default();
        let maps = String::from_utf8_lossy(&maps);
        let mut found = mapped_files(&maps);
        let program = if is_own { own_program(cx) } else { None };
        if let (Some(_), Some(executable)) = (&program, found.first().copied()) {
            found.insert(0, executable);
        }
        cx.alloc_ref_array(class, found.len() + assemblies.len(), |i| {
            let object = cx.alloc(class)?;
            if let Some(assembly) = i.checked_sub(found.len()).map(|n| assemblies[n]) {
                let file = format!("[In Memory] {}", assembly.name);
                crate::support::fields::set_ref(cx, object, "filename", cx.alloc_str(&file)?)?;
                crate::support::fields::set_ref(cx, object, "modulename", cx.alloc_str(assembly.name)?)?;
                let info = file_version_info::of_version(cx, version, &file, assembly.version)?;
                crate::support::fields::set_ref(cx, object, "version_info", info)?;
                return Ok(object);
            }
            let (low, high, file) = found[i];
            let info = file_version_info::of_file(cx, version, file)?;
            crate::support::fields::set_ref(cx, object, "version_info", info)?;
            object.write(crate::support::fields::field_offset(cx, class, "baseaddr")?, low as usize);
            crate::support::fields::set_i32(cx, object, "memory_size", high.saturating_sub(low) as i32)?;
            crate::support::fields::set_ref(cx, object, "filename", cx.alloc_str(file)?)?;
            let name = match &program {
                Some(program) if i == 0 => program,
                _ => file.rsplit('/').next().unwrap_or(file),
            };
            crate::support::fields::set_ref(cx, object, "modulename", cx.alloc_str(name)?)?;
            Ok(object)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn command_lines_split_like_a_shell() {
        let words = |l| split(l).map(|w| w.join("|"));
        assert_eq!(
            words(r#"a  'b c' "d \"e\\" f\ g '' x\ny "#).as_deref(),
            Ok(r#"a|b c|d "e\|fg||xny"#)
        );
        assert_eq!(words("a \\  \"b\\\n\"").as_deref(), Ok("a|b\\\n"));
        assert_eq!(words(""), Ok(String::new()));
        assert_eq!(words("'open"), Err("Unfinished quote."));
        assert_eq!(words("\"open\\"), Err("Unfinished escape."));
    }
    #[test]
    fn a_child_runs_and_its_exit_code_comes_back() {
        let start = |program: &str, arguments: &str| {
            let (program, arguments) = (program.into(), Ok(arguments.into()));
            spawn(&Command {
                program,
                arguments,
                directory: Some("/".into()),
                environment: None,
                streams: [0, 1, 2],
            })
        };
        let pid = start("sh", "-c 'exit 7'").expect("started");
        let handle = wait_handles::process::create(pid, true);
        let exit = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            wait_handles::process::end_of(handle).flatten()
        });
        assert_eq!(exit.map(|e| e.code), Some(7));
        assert!(wait_handles::close(handle) && !wait_handles::close(handle));
        assert_eq!(
            start("no-such-program", ""),
            Err(error_numbers::FILE_NOT_FOUND)
        );
        assert_eq!(start("/etc/passwd", ""), Err(error_numbers::ACCESS_DENIED));
    }
}
