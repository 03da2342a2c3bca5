# Sourced by the benches: finds the .NET runtimes there are. Needs `$root`, `$out`, `$vervet` (empty: leave it out) and a program
# `$out/$probe.exe`, which is run with `$probe_arguments` to see whether CoreCLR works.

# CoreCLR 3.1 comes as a Python package; its host starts a program that mcs compiled when told the framework's version.
coreclr() {
    local home=$root/.cache/coreclr
    host=$home/dotnetcore2/bin/dotnet
    if [ ! -e "$host" ]; then
        command -v python3 > /dev/null || return 1
        python3 -m pip install -q --no-deps --target "$home" dotnetcore2 > "$out/coreclr.log" 2>&1 || return 1
    fi
    chmod +x "$host"
    cat > "$home/bench.json" << 'JSON'
{ "runtimeOptions": { "framework": { "name": "Microsoft.NETCore.App", "version": "3.1.0" },
                      "configProperties": { "System.Globalization.Invariant": true } } }
JSON
    # shellcheck disable=SC2086
    "$host" exec --runtimeconfig "$home/bench.json" "$out/$probe.exe" ${probe_arguments:-1000} > "$out/coreclr.log" 2>&1
}

skipped() { echo "$1: skipped"; }

# Sets `runtimes`, and says which peers are missing.
find_runtimes() {
    runtimes=()
    [ -n "$vervet" ] && runtimes+=(vervet)
    if command -v mono > /dev/null; then runtimes+=(mono); else skipped 'mono is not installed'; fi
    if coreclr; then runtimes+=(coreclr); else skipped 'CoreCLR 3.1 (Python package dotnetcore2) is not to be had'; fi
}
