//! What is recorded: the text behind `--profile=log:`.
//!
//! The grammar and the defaults are mono's. Unlike there, an item that is not known, or not possible, is an error: a recording that lacks what
//! was asked for is found out too late.
//!
//! # Invariants
//! * The first item decides the defaults: none for `nodefaults`, exceptions and counters otherwise, and nothing if there is no item at all.
//! * `noX` wins over `X`, wherever it stands.
use thiserror::Error;

/// Sets of events: the words of the grammar.
pub mod sets {
    /// Exceptions thrown, and the clauses they meet.
    pub const EXCEPTION: u32 = 1;
    /// Monitors that a thread waits for.
    pub const MONITOR: u32 = 1 << 1;
    /// Collections and the size of the heap.
    pub const GC: u32 = 1 << 2;
    /// Every allocation.
    pub const GC_ALLOC: u32 = 1 << 3;
    /// Objects that move.
    pub const GC_MOVE: u32 = 1 << 4;
    /// Roots of the heap.
    pub const GC_ROOT: u32 = 1 << 5;
    /// GC handles.
    pub const GC_HANDLE: u32 = 1 << 6;
    /// Finalizers.
    pub const FINALIZATION: u32 = 1 << 7;
    /// Counters, once a second.
    pub const COUNTER: u32 = 1 << 8;
    /// Code that is not a method's.
    pub const JIT: u32 = 1 << 9;
}
use sets::*;

/// What writes a recording that nobody named.
pub const DEFAULT_OUTPUT: &str = "output.mlpd";
/// More frames than this are not written.
pub const MOST_FRAMES: u32 = 32;

const WORDS: &[(&str, u32)] = &[
    ("exception", EXCEPTION),
    ("monitor", MONITOR),
    ("gc", GC),
    ("gcalloc", GC_ALLOC),
    ("gcmove", GC_MOVE),
    ("gcroot", GC_ROOT),
    ("gchandle", GC_HANDLE),
    ("finalization", FINALIZATION),
    ("counter", COUNTER),
    ("counters", COUNTER),
    ("jit", JIT),
    ("alloc", GC | GC_ALLOC | GC_MOVE),
    (
        "legacy",
        EXCEPTION | MONITOR | GC | GC_MOVE | GC_ROOT | GC_HANDLE | FINALIZATION | COUNTER,
    ),
];

/// Why a text is not a choice of what to record.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No such profiler.
    #[error("'{0}' is not a profiler; there is 'log'")]
    Profiler(String),
    /// No such item.
    #[error("'{0}' is not an item of --profile=log; --profile=log:help lists them")]
    Unknown(String),
    /// An item that mono has and this runtime has not, or not yet.
    #[error("'{0}' cannot be recorded by this version of Vervet")]
    Unsupported(String),
    /// `nodefaults` behind another item.
    #[error("'nodefaults' must be the first item")]
    LateNoDefaults,
    /// A number was expected.
    #[error("'{0}' does not have a number behind '='")]
    Number(String),
    /// A quote without its partner.
    #[error("a quote is not closed")]
    Quote,
}

/// What is recorded, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Events: bits of [`sets`].
    pub events: u32,
    /// Frames of a backtrace; 0: none is written.
    pub max_frames: u32,
    /// File name, `|command`, `#descriptor`, with `%p`, `%t`, `%%` still to be replaced.
    pub output: String,
    /// The stream is compressed by gzip.
    pub zip: bool,
    /// The stream goes through `mprof-report`.
    pub report: bool,
    /// Usage is wanted, and nothing else.
    pub help: bool,
    /// The whole text, for the header of the file.
    pub text: String,
}

impl Options {
    /// Reads what stands behind `--profile=`; empty or `default` means `log:report`.
    pub fn parse(text: &str) -> Result<Options, OptionError> {
        let text = if matches!(text, "" | "default") { "log:report" } else { text };
        let (name, items) = text.split_once(':').unwrap_or((text, ""));
        if name != "log" {
            return Err(OptionError::Profiler(name.to_owned()));
        }
        let mut options = Options {
            events: 0,
            max_frames: MOST_FRAMES,
            output: String::new(),
            zip: false,
            report: false,
            help: false,
            text: text.to_owned(),
        };
        let mut disabled = 0;
        for (at, item) in split(items)?.iter().enumerate() {
            match (at, item.as_str()) {
                (0, "nodefaults") => continue,
                (_, "nodefaults") => return Err(OptionError::LateNoDefaults),
                (0, _) => options.events |= EXCEPTION | COUNTER,
                _ => {}
            }
            disabled |= options.item(item)?;
        }
        options.events &= !disabled;
        if options.output.is_empty() {
            options.output = match options.report {
                true => "|mprof-report -".to_owned(),
                false => DEFAULT_OUTPUT.to_owned(),
            };
        } else if options.report {
            let file = options.output.replace('\'', r"'\''");
            options.output = format!("|mprof-report '--out={file}' -");
        }
        Ok(options)
    }

    /// Takes an item in; the result are sets that it switches off.
    fn item(&mut self, item: &str) -> Result<u32, OptionError> {
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (item, None),
        };
        let number = || -> Result<u32, OptionError> {
            value
                .and_then(|v| v.parse().ok())
                .ok_or_else(|| OptionError::Number(item.to_owned()))
        };
        let set = |name: &str| WORDS.iter().find(|w| w.0 == name).map(|w| w.1);
        match (name, value) {
            ("help", None) => self.help = true,
            ("zip", None) => self.zip = true,
            ("report", None) => self.report = true,
            ("debug" | "nocalls", None) => {}
            ("output", Some(file)) => self.output = file.to_owned(),
            ("maxframes", _) => self.max_frames = number()?.min(MOST_FRAMES),
            // They only limit what is not recorded.
            ("calldepth" | "maxsamples", _) => drop(number()?),
            (
                "sample" | "sample-real" | "sampling-real" | "calls" | "callspec" | "heapshot"
                | "heapshot-on-shutdown" | "port" | "coverage",
                _,
            ) => return Err(OptionError::Unsupported(name.to_owned())),
            (name, None) => match (set(name), name.strip_prefix("no").and_then(set)) {
                (Some(wanted), _) => {
                    if wanted & UNSUPPORTED != 0 && name != "alloc" && name != "legacy" {
                        return Err(OptionError::Unsupported(name.to_owned()));
                    }
                    self.events |= wanted & !UNSUPPORTED;
                }
                (None, Some(without)) => return Ok(without),
                (None, None) => return Err(OptionError::Unknown(item.to_owned())),
            },
            _ => return Err(OptionError::Unknown(item.to_owned())),
        }
        Ok(0)
    }
}

/// What the runtime does not tell yet.
const UNSUPPORTED: u32 = GC_MOVE | GC_ROOT | JIT;

/// The items: separated by commas that no quote protects; a backslash takes the next character as it is. Empty ones are left out.
fn split(text: &str) -> Result<Vec<String>, OptionError> {
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => item.extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (',', None) => items.push(std::mem::take(&mut item)),
            _ => item.push(c),
        }
    }
    if quote.is_some() {
        return Err(OptionError::Quote);
    }
    items.push(item);
    items.retain(|i| !i.is_empty());
    Ok(items)
}

/// What `--profile=log:help` prints.
pub const HELP: &str = "\
Usage: vervet --profile=log[:item,item,...] program.exe

  help                 prints this
  nodefaults           records nothing that is not named; must be the first item
  [no]exception        exceptions and the clauses they meet (default)
  [no]counter          counters, once a second (default)
  [no]monitor          monitors that a thread waits for
  [no]gc               collections and the size of the heap
  [no]gcalloc          every allocation
  [no]gchandle         GC handles made and freed
  [no]finalization     objects that are finalized
  [no]alloc            gc, gcalloc
  [no]legacy           exception, monitor, gc, gchandle, finalization, counter
  maxframes=N          at most N frames of a backtrace (0 to 32, default 32)
  output=FILE          writes to FILE (default output.mlpd); '|COMMAND' starts a command, '#N' is a file descriptor;
                       %p is the process, %t the time, %% a percent sign; '+FILE' appends the process
  report               shows the recording by mprof-report
  zip                  compresses the recording by gzip

Not in this version: gcmove, gcroot, heapshot, calls, sample, jit, port.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> u32 {
        Options::parse(text).unwrap().events
    }

    #[test]
    fn the_first_item_decides_the_defaults() {
        assert_eq!(events("log"), 0);
        assert_eq!(events("log:gc"), GC | EXCEPTION | COUNTER);
        assert_eq!(events("log:nodefaults,gc"), GC);
        assert_eq!(
            Options::parse("log:gc,nodefaults"),
            Err(OptionError::LateNoDefaults)
        );
    }

    #[test]
    fn what_is_switched_off_stays_off() {
        assert_eq!(events("log:noexception,exception,nocounter"), 0);
        assert_eq!(events("log:nodefaults,alloc,nogcalloc"), GC);
    }

    #[test]
    fn quotes_and_backslashes_protect_commas() {
        let output = |text| Options::parse(text).unwrap().output;
        assert_eq!(output("log:output='a,b'"), "a,b");
        assert_eq!(output(r"log:,output=a\,b,"), "a,b");
        assert_eq!(output(r"log:report,output=it\'s"), r"|mprof-report '--out=it'\''s' -");
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for text in ["log:gx", "log:gc=1", "log:output", "log:nonsense", "log:time=x"] {
            let error = Options::parse(text).unwrap_err();
            assert!(matches!(error, OptionError::Unknown(_)), "{text}: {error}");
        }
        for text in ["log:sample", "log:sample=100", "log:calls", "log:gcmove", "log:heapshot=5gc"] {
            let error = Options::parse(text).unwrap_err();
            assert!(matches!(error, OptionError::Unsupported(_)), "{text}: {error}");
        }
        assert_eq!(Options::parse("log:maxframes=x"), Err(OptionError::Number("maxframes=x".into())));
        assert_eq!(Options::parse("cov"), Err(OptionError::Profiler("cov".into())));
        assert_eq!(Options::parse("log:output='x"), Err(OptionError::Quote));
    }

    #[test]
    fn reports_go_through_mprof_report() {
        let output = |text| Options::parse(text).unwrap().output;
        assert_eq!(output(""), "|mprof-report -");
        assert_eq!(output("default"), "|mprof-report -");
        assert_eq!(output("log:report,output=x"), "|mprof-report '--out=x' -");
        assert_eq!(output("log:gc"), DEFAULT_OUTPUT);
    }
}
