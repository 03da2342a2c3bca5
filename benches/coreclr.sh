# Sourced by the benches: the function coreclr, which makes `$host` start CoreCLR 3.1, or fails. Needs `$root`, `$out` and a
# program `$out/$probe.exe` that takes a number.

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
    "$host" exec --runtimeconfig "$home/bench.json" "$out/${probe:-NewObject}.exe" 1000 > "$out/coreclr.log" 2>&1
}
