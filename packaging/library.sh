#!/bin/bash
# The embedding library under the names that hosts look for, in a directory of its own, with files for pkg-config.
#
#   packaging/library.sh LIBRARY DIRECTORY [INCLUDE]     LIBRARY is libvervet_embedding.so as cargo builds it
#
# RPATH is where the empty libraries look for libvervet.so.1 first (default: beside themselves; empty: only where the system looks).
# INCLUDE is where the headers will be found (default: `include` of this tree). libmonosgen-2.0.so.1 is an empty library that needs
# libvervet.so.1: whichever name a process opens, it has one runtime.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
rpath=${RPATH-\$ORIGIN}
include=${3:-$(cd "$(dirname "$0")/.." && pwd)/include}
mkdir -p "$2/pkgconfig"
cp "$1" "$2/libvervet.so.1"
ln -sf libvervet.so.1 "$2/libvervet.so"
for name in libmonosgen-2.0 libmono-2.0; do
    cc -shared -x c /dev/null -o "$2/$name.so.1" -Wl,-soname,libmonosgen-2.0.so.1 -Wl,--no-as-needed ${rpath:+"-Wl,-rpath,$rpath"} -x none "$2/libvervet.so.1"
    # What hosts are linked with: they then need the name that mono's library has.
    printf 'INPUT(%s.so.1 libvervet.so.1)\n' "$name" > "$2/$name.so"
done
# The directory of a file is two levels below the prefix of its libraries.
describe() { # file, directory, name, version, library
    cat > "$2/pkgconfig/$1.pc" << END
libdir=\${pcfiledir}/..
includedir=$include

Name: $3
Description: embedding API of the Vervet runtime
Version: $4
Libs: -L\${libdir} -l$5 -lm -lpthread
Cflags: -I\${includedir} -D_REENTRANT
END
}
describe vervet "$2" Vervet 0.1.0 vervet
describe mono-2 "$2" Mono 6.8.0.105 mono-2.0
describe monosgen-2 "$2" Mono 6.8.0.105 monosgen-2.0
