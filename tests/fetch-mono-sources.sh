#!/bin/bash
# Brings the runtime test programs of Debian's `mono` source package into .cache/mono-src.
#
# Nothing on the system changes and no root is needed: apt runs on a private copy of the machine's own
# sources (Debian's entries only, `deb-src` added), with private lists and a private cache.
# Done once; the stamp file makes later calls free. `--force` starts again.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
dest=$root/.cache/mono-src
apt=$root/.cache/apt
# The number goes up when the list of files below grows.
stamp=$dest/.complete-3

[ "${1:-}" = --force ] && rm -rf "$dest" "$apt"
[ -e "$stamp" ] && exit 0

. /etc/os-release
codename=${VERSION_CODENAME:-bookworm}

rm -f "$dest"/.complete*
mkdir -p "$dest" "$apt"/{parts,lists/partial,cache/archives/partial}
rm -f "$apt"/parts/*
: > "$apt/sources.list"

# An entry is Debian's own when address, suite and component all say so; any one alone fits other vendors too.
awk_debian='
function ours(uri, suite, comps) {
    return uri ~ /debian/ && (" " comps " ") ~ / main / &&
        suite ~ ("^(" codename "|stable|oldstable|oldoldstable)(-updates|-security|/updates)?$")
}'

# One-line format: `deb [options] uri suite components...` becomes the same line with deb-src.
one_line() {
    awk -v codename="$codename" "$awk_debian"'
    /^[ \t]*deb(-src)?[ \t]/ {
        sub(/#.*/, ""); line = $0
        sub(/^[ \t]*deb(-src)?[ \t]+/, "", line)
        opts = ""
        if (match(line, /^\[[^]]*\][ \t]*/)) { opts = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1) }
        n = split(line, f, /[ \t]+/); comps = ""
        for (i = 3; i <= n; i++) comps = comps " " f[i]
        gsub(/arch=[^] ]*/, "", opts)
        if (ours(f[1], f[2], comps)) print "deb-src " opts f[1] " " f[2] " main"
    }' "$1"
}

# deb822 format: stanzas; the suites are filtered and `Types` becomes deb-src; `Signed-By` blocks stay whole.
deb822() {
    awk -v codename="$codename" "$awk_debian"'
    function flush(   i, n, s, keep) {
        n = split(suites, s, /[ \t\n]+/); keep = ""
        for (i = 1; i <= n; i++) if (s[i] != "" && ours(uris, s[i], comps)) keep = keep " " s[i]
        if (keep != "" && !disabled)
            print "Types: deb-src\nURIs:" uris "\nSuites:" keep "\nComponents: main\n" rest
        suites = uris = comps = rest = field = ""; disabled = 0
    }
    /^#/ { next }
    /^[ \t]*$/ { flush(); next }
    {
        if ($0 !~ /^[ \t]/) { field = tolower($0); sub(/:.*/, "", field); value = $0; sub(/^[^:]*:/, "", value) }
        else value = $0
        if (field == "types" || field == "architectures") next
        else if (field == "uris") uris = uris " " value
        else if (field == "suites") suites = suites " " value
        else if (field == "components") comps = comps " " value
        else if (field == "enabled") disabled = value ~ /no|false|0/
        else rest = rest $0 "\n"
    }
    END { flush() }' "$1"
}

for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] && one_line "$file" >> "$apt/sources.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && deb822 "$file" > "$apt/parts/$(basename "$file")"
done
if ! grep -qs deb-src "$apt/sources.list" "$apt"/parts/*; then
    echo "fetch-mono-sources: no Debian entry for '$codename' in /etc/apt/sources.list or sources.list.d" >&2
    exit 1
fi

# A -c file is read last, so it also clears hooks which the machine runs after updates.
cat > "$apt/apt.conf" <<CONF
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "$apt/parts";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "$(id -un)";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF

cd "$apt"
apt-get -q -c "$apt/apt.conf" update
apt-get -q -c "$apt/apt.conf" source --download-only mono

# Only the programs, and the lists which say how they are meant to be built and run.
tarball=$(ls "$apt"/mono_*.orig.tar.* | grep -v '\.asc$' | sort -V | tail -n 1)
tar -xf "$tarball" -C "$dest" --strip-components=1 --wildcards --no-wildcards-match-slash --no-anchored \
    'mono/mini/*.cs' 'mono/mini/*.il' 'mono/mini/Makefile.am*' \
    'mono/tests/*.cs' 'mono/tests/*.il' 'mono/tests/Makefile.am' \
    'mono/tests/libtest.c' 'mono/eglib/*.c' 'mono/eglib/*.h' 'mono/utils/*.h' \
    'mono/tests/assembly-load-dir1/*' 'mono/tests/assembly-load-dir2/*' 'mono/tests/testing_gac/*' 'mono/tests/*.config' 'mono/tests/tailcall/*' \
    'mcs/tests/*'
: > "$stamp"
echo "fetch-mono-sources: $(basename "$tarball") -> .cache/mono-src"
