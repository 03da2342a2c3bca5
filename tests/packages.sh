#!/bin/bash
# The Debian packages, installed, upgraded and removed in a copy of this system that is thrown away.
#
#   tests/packages.sh BINARY               builds the packages from BINARY and checks them
#
# The copy is an overlay over `/`, so it needs root and a kernel that grants one; without them the checks of files still run and the rest is
# said to be skipped. lintian judges where it is installed.
set -uo pipefail

[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
binary=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
errors=0 passed=0
cleanup() {
    umount -R "$work/over/root" 2> /dev/null
    umount "$work/over" 2> /dev/null
    rm -rf "$work"
}
trap cleanup EXIT
check() { # what, command...
    local what=$1; shift
    if "$@" > "$work/log" 2>&1; then passed=$((passed + 1))
    else errors=$((errors + 1)); echo "  FAILED: packages: $what"; sed 's/^/    /' "$work/log" | tail -n 15; fi
}

# The packages are thrown away, so nothing is gained by small ones.
COMPRESSION=0 packaging/build.sh "$binary" "$work/out" > "$work/built" || { echo "  FAILED: packages: packaging/build.sh"; exit 1; }
deb=$(echo "$work"/out/vervet_*_amd64.deb)

# ---- what is in them ----------------------------------------------------------------------------------------------------------

contents() { dpkg-deb --fsys-tarfile "$deb" | tar t; }
has() { contents | grep -x "./$1"; }
for file in usr/bin/vervet usr/share/man/man1/vervet.1.gz usr/share/bash-completion/completions/vervet usr/share/vervet/common.profile \
    usr/share/doc/vervet/copyright; do
    check "the package has $file" has "$file"
done
libraries=$(echo "$work"/out/libvervet*.deb)
if [ -e "${libraries%% *}" ]; then
    for file in libvervet1:usr/lib/x86_64-linux-gnu/libvervet.so.1 libvervet1:usr/lib/x86_64-linux-gnu/vervet/libmonosgen-2.0.so.1 \
        libvervet-dev:usr/include/vervet/mono/jit/jit.h libvervet-dev:usr/lib/x86_64-linux-gnu/pkgconfig/vervet.pc; do
        check "${file%%:*} has ${file#*:}" sh -c "dpkg-deb -c '$work'/out/${file%%:*}_*.deb | grep -q ' ./${file#*:}\$'"
    done
else
    echo "  skipped: there is no libvervet_embedding.so beside $binary"
fi
# Every option of --help stands in the manual page.
manual_is_complete() {
    local page option
    page=$(dpkg-deb --fsys-tarfile "$deb" | tar xO ./usr/share/man/man1/vervet.1.gz | gzip -dc | sed 's/\\-/-/g')
    for option in $("$binary" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        grep -qF -- "$option" <<< "$page" || { echo "the manual page lacks $option"; return 1; }
    done
}
check "the manual page has the options of --help" manual_is_complete
if command -v lintian > /dev/null; then
    clean() { local said; said=$(lintian --allow-root --fail-on error,warning "$work"/out/*.deb 2>&1) || { echo "$said"; return 1; }; }
    check "lintian finds nothing" clean
else
    echo "  skipped: lintian is not installed"
fi
unpacks() {
    mkdir -p "$work/tarball" && tar -xJf "$work"/out/vervet-*.tar.xz -C "$work/tarball" &&
        "$work"/tarball/vervet-*/bin/vervet --version
}
check "the tarball's command runs where it is unpacked" unpacks

# ---- a system that installs and removes them --------------------------------------------------------------------------------

if ! { mkdir -p "$work/over" && mount -t tmpfs tmpfs "$work/over" 2> /dev/null && mkdir -p "$work/over"/{upper,work,root} &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$work/over/upper,workdir=$work/over/work" "$work/over/root" 2> /dev/null; }; then
    echo "  skipped: this system grants no overlay, so the packages are not installed"
    echo "packages: $passed passed, $errors failed"
    exit $((errors > 0))
fi
root=$work/over/root
mount -t proc proc "$root/proc" 2> /dev/null
mkdir -p "$root/tmp/p" && cp "$work"/out/*.deb "$root/tmp/p"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive VERVET_CACHE=off /bin/sh -c "$*"; }
# A program as `mono` and `cli` start it says on which runtime it is.
cat > "$root/tmp/p/Which.cs" << 'CS'
class Which { static void Main () {
    System.Console.WriteLine (System.IO.File.ReadAllText ("/proc/self/maps").Contains ("/usr/bin/vervet") ? "vervet" : "mono"); } }
CS
# What an earlier checkout of this package left on the machine itself is no part of the test.
inside "dpkg --purge vervet" > /dev/null 2>&1
inside "cd /tmp/p && mcs Which.cs && printf '#!/bin/sh\nexec /usr/bin/cli /tmp/p/Which.exe\n' > script && chmod +x script" > "$work/log" 2>&1 ||
    { cat "$work/log"; echo "  FAILED: packages: the program does not compile"; exit 1; }
says() { local want=$1 got; shift; got=$(inside "$*" 2>&1); [ "$got" = "$want" ] || { echo "'$*' says '$got'"; return 1; }; }

check "before: mono is mono" says mono "mono /tmp/p/Which.exe"
link_before=$(readlink "$root/usr/bin/mono")
check "the package installs" inside "dpkg -i /tmp/p/vervet_*.deb"
check "after it, mono starts Vervet" says vervet "mono /tmp/p/Which.exe"
check "after it, cli starts Vervet" says vervet "cli /tmp/p/Which.exe"
check "after it, a script whose wrapper says cli starts Vervet" says vervet "/tmp/p/script"
if [ -e "$root/tmp/p/$(basename "${libraries%% *}")" ]; then
    cp samples/embedding/game.c samples/embedding/Rules.cs "$root/tmp/p"
    check "the libraries install" inside "dpkg -i /tmp/p/libvervet*.deb"
    # shellcheck disable=SC2016
    check "a host is compiled with pkg-config" inside 'cd /tmp/p && mcs -t:library -out:Rules.dll Rules.cs && cc game.c -o game $(pkg-config --cflags --libs vervet 2> /dev/null || echo -I/usr/include/vervet -lvervet)'
    check "it runs" says "frame 8: height 2.537" "cd /tmp/p && ./game | tail -n 1"
    check "one that was linked with mono's library runs" says "frame 8: height 2.537" \
        "cd /tmp/p && cc game.c -o linked -I/usr/include/vervet -L/usr/lib/x86_64-linux-gnu/vervet -lmono-2.0 && LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/vervet ./linked | tail -n 1"
    check "the libraries are removed" inside "dpkg --purge libvervet-dev libvervet1 && test ! -e /usr/include/vervet"
fi
check "after it, mono answers as mono" inside "mono --version | grep -q 'Mono JIT compiler'"
check "mcs of Debian compiles on it" inside "cd /tmp/p && rm Which.exe && mcs Which.cs && test -e Which.exe"
check "the framework is compiled ahead" inside "ls /var/cache/vervet/code/* | grep -q ."
compiles_little() {
    local count; count=$(inside "VERVET_CACHE=read VERVET_CACHE_DIR=/root/none vervet --stats /tmp/p/Which.exe" 2>&1); echo "$count" | head -n 8
    [ "$(sed -n 's/^methods from cache *\([0-9]*\),.*/\1/p' <<< "$count")" -gt 100 ]
}
check "programs use what was compiled ahead" compiles_little
check "an upgrade to the same version works" inside "dpkg -i /tmp/p/vervet_*.deb"
check "after the upgrade, mono starts Vervet" says vervet "mono /tmp/p/Which.exe"
check "the alternative can be mono again" inside "update-alternatives --set mono /usr/bin/mono-sgen"
check "then mono is mono" says mono "mono /tmp/p/Which.exe"
check "a change of the class library is a trigger" inside "dpkg-trigger --by-package=mono-runtime /usr/lib/mono/4.5 && dpkg --configure -a"
check "the package is removed" inside "dpkg --remove vervet"
check "after it, mono is mono" says mono "mono /tmp/p/Which.exe"
check "after it, cli is mono" says mono "cli /tmp/p/Which.exe"
same_link() { [ "$(readlink "$root/usr/bin/mono")" = "$link_before" ]; }
check "mono's link is as it was" same_link
check "purging removes what was compiled ahead" inside "dpkg --purge vervet && test ! -e /var/cache/vervet"
check "installing it again works" inside "dpkg -i /tmp/p/vervet_*.deb && dpkg --purge vervet"
check "no diversion and no alternative is left" inside "! dpkg-divert --list '*vervet*' | grep . && ! update-alternatives --query mono"

echo "packages: $passed passed, $errors failed"
exit $((errors > 0))
