#!/bin/bash
# Builds Debian packages, and a tarball for other systems, from a built command.
#
#   packaging/build.sh BINARY OUT          vervet_*.deb, vervet-doc_*.deb, and, if libvervet_embedding.so lies beside BINARY,
#                                          libvervet1_*.deb and libvervet-dev_*.deb, into OUT; with them vervet-*.tar.xz
#
# MANUAL names the program that writes the manual page and the completions (default: it is built by cargo). MAINTAINER is the name and
# address that the packages show. COMPRESSION is xz's level (default: 6). Nothing is installed, and the user need not be root.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
package_version=$version-1
maintainer=${MAINTAINER:-Vervet Developers <vervet@packages.debian.org>}
level=${COMPRESSION:-6}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same commit makes the same packages.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
date=$(date -u -R -d "@$SOURCE_DATE_EPOCH")

# ---- the oldest C library that will do ---------------------------------------------------------------------------------

# Every package says so in its dependencies, so a newer one than this must not slip in unnoticed.
floor=2.34
needed() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1; }
check_floor() {
    local needs; needs=$(needed "$1")
    [ "$(printf '%s\n%s\n' "$needs" $floor | sort -V | tail -n 1)" = $floor ] ||
        { echo "packaging: $1 needs glibc $needs, and $floor is promised" >&2; exit 1; }
}
check_floor "$binary"
shlibs="libc6 (>= $floor), libgcc-s1 (>= 3.0)"

# ---- parts ---------------------------------------------------------------------------------------------------------------

manual=${MANUAL:-}
if [ -z "$manual" ]; then
    manual=$(dirname "$binary")/examples/manual
    # `make test` has built it beside the binary; what is asked for without it is built here.
    if [ ! -x "$manual" ] || [ "$manual" -ot crates/cli/src/options.rs ]; then
        cargo build --release -q -p vervet --example manual
        manual=${CARGO_TARGET_DIR:-target}/release/examples/manual
    fi
fi
mkdir "$work/manual"
"$manual" "$work/manual"

# The methods that a few usual programs use; `vervet aot` reads the list when the package is installed.
mkdir "$work/profile"
profile() { "$binary" --no-cache "--write-profile=$work/profile/common.profile" "$@" > /dev/null 2>> "$work/profile/log" < /dev/null; }
"$binary" /usr/lib/mono/4.5/mcs.exe -nologo -r:System.Core.dll "-out:$work/profile/Common.exe" packaging/profile/Common.cs
profile "$work/profile/Common.exe"
profile /usr/lib/mono/4.5/mcs.exe -nologo -r:System.Core.dll "-out:$work/profile/again.exe" packaging/profile/Common.cs
if [ -e /usr/lib/mono/4.5/csharp.exe ]; then profile /usr/lib/mono/4.5/csharp.exe -e '1+1' || true; fi
LC_ALL=C sort -u -o "$work/profile/common.profile" "$work/profile/common.profile"

# ---- packages --------------------------------------------------------------------------------------------------------------

# The tree of a package, with what every package has: copyright and changelog.
tree() {
    local name=$1 doc=$work/$1/usr/share/doc/$1
    mkdir -p "$doc" "$work/$name/DEBIAN"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        echo
        echo "Files: *"
        sed -n 's/^Copyright (c) \(.*\)/Copyright: \1/p' LICENSE
        echo "License: Expat"
        sed -n '5,$s/^$/./;5,$s/^/ /p' LICENSE
    } > "$doc/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * Built from the tree; CHANGELOG.md says what is new.\n\n -- %s  %s\n' \
        vervet "$package_version" "$maintainer" "$date" | gzip -9n > "$doc/changelog.Debian.gz"
    gzip -9nc CHANGELOG.md > "$doc/changelog.gz"
}
# Closes the tree of a package into a file.
close() {
    local name=$1 file arch
    sed -e "s|@VERSION@|$package_version|" -e "s|@MAINTAINER@|$maintainer|" -e "s|@SHLIBS@|$shlibs|" \
        "packaging/$name/control" > "$work/$name/DEBIAN/control"
    echo "Installed-Size: $(du -sk --exclude=DEBIAN "$work/$name" | cut -f1)" >> "$work/$name/DEBIAN/control.size"
    sed -i "/^Priority:/r $work/$name/DEBIAN/control.size" "$work/$name/DEBIAN/control"
    rm "$work/$name/DEBIAN/control.size"
    for file in preinst postinst prerm postrm; do
        [ ! -e "packaging/$name/$file" ] || install -m 755 "packaging/$name/$file" "$work/$name/DEBIAN/$file"
    done
    [ ! -e "packaging/$name/triggers" ] || install -m 644 "packaging/$name/triggers" "$work/$name/DEBIAN/triggers"
    if [ -e "packaging/$name/lintian-overrides" ]; then
        install -D -m 644 "packaging/$name/lintian-overrides" "$work/$name/usr/share/lintian/overrides/$name"
    fi
    (cd "$work/$name" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    find "$work/$name" -type d -exec chmod 755 {} +
    arch=$(sed -n 's/^Architecture: //p' "$work/$name/DEBIAN/control")
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$work/$name" "$out/${name}_${package_version}_$arch.deb" > /dev/null
    echo "$out/${name}_${package_version}_$arch.deb"
}
stripped() { objcopy --strip-debug --strip-unneeded --remove-section=.comment --remove-section=.note "$1" "$2"; }

tree vervet
root=$work/vervet
mkdir -p "$root/usr/bin" "$root/usr/share/man/man1"
stripped "$binary" "$root/usr/bin/vervet"
chmod 755 "$root/usr/bin/vervet"
gzip -9nc "$work/manual/vervet.1" > "$root/usr/share/man/man1/vervet.1.gz"
install -D -m 644 "$work/manual/vervet.bash" "$root/usr/share/bash-completion/completions/vervet"
install -D -m 644 "$work/manual/_vervet" "$root/usr/share/zsh/vendor-completions/_vervet"
install -D -m 644 "$work/manual/vervet.fish" "$root/usr/share/fish/vendor_completions.d/vervet.fish"
install -D -m 644 "$work/profile/common.profile" "$root/usr/share/vervet/common.profile"
install -D -m 644 README.md "$root/usr/share/doc/vervet/README.md"
close vervet

tree vervet-doc
root=$work/vervet-doc/usr/share/doc/vervet-doc
cp -r docs samples "$root"
find "$root" -type f -exec chmod 644 {} +
close vervet-doc

beside=$(dirname "$binary")
if [ -e "$beside/libvervet_embedding.so" ]; then
    . packaging/libraries.sh
fi

# ---- a tarball for other systems ---------------------------------------------------------------------------------------------

name=vervet-$version-linux-x86_64
mkdir -p "$work/$name"
cp -r "$work/vervet/usr/." "$work/$name"
rm -rf "$work/$name/share/lintian"
[ ! -d "$work/libvervet1/usr/lib" ] || cp -r "$work/libvervet1/usr/lib" "$work/$name"
install -m 644 LICENSE README.md CHANGELOG.md "$work/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner "--mtime=@$SOURCE_DATE_EPOCH" -C "$work" -I "xz -$level" -cf "$out/$name.tar.xz" "$name"
echo "$out/$name.tar.xz"
