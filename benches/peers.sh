# Sourced by the benches: finds the runtimes there are. Needs `$root`, `$out`, `$vervet` (empty: leave it out) and a program
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

# .NET 8, as `dotnet` on the path or what DOTNET says: sets `clr` to the command before the program.
coreclr_8() {
    local dotnet=${DOTNET:-dotnet} version
    command -v "$dotnet" > /dev/null || return 1
    version=$("$dotnet" --list-runtimes | sed -nE 's/^Microsoft\.NETCore\.App (8[^ ]*) .*/\1/p' | tail -n 1)
    [ -n "$version" ] || return 1
    cat > "$out/coreclr-8.json" << JSON
{ "runtimeOptions": { "framework": { "name": "Microsoft.NETCore.App", "version": "$version" },
                      "configProperties": { "System.Globalization.Invariant": true } } }
JSON
    clr=("$dotnet" exec --runtimeconfig "$out/coreclr-8.json")
    # shellcheck disable=SC2086
    "${clr[@]}" "$out/$probe.exe" ${probe_arguments:-1000} > "$out/coreclr.log" 2>&1
}

# The newest JDK with virtual threads (21 or newer): sets `java` to the folder of its commands.
java_home() {
    local candidate version newest=20
    java=
    for candidate in "${JAVA_HOME:-}/bin" "$(dirname "$(command -v javac || echo /javac)")" /usr/lib/jvm/*/bin; do
        [ -x "$candidate/javac" ] || continue
        version=$("$candidate/javac" -version 2>&1 | sed -nE 's/^javac ([0-9]+).*/\1/p')
        [ "${version:-0}" -gt "$newest" ] && newest=$version java=$candidate
    done
    [ -n "$java" ]
}

skipped() { echo "$1: skipped"; }

# Sets `runtimes`, and says which peers are missing.
find_runtimes() {
    runtimes=()
    [ -n "$vervet" ] && runtimes+=(vervet)
    if command -v mono > /dev/null; then runtimes+=(mono); else skipped 'mono is not installed'; fi
    if coreclr; then runtimes+=(coreclr); else skipped 'CoreCLR 3.1 (Python package dotnetcore2) is not to be had'; fi
}
