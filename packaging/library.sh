#!/bin/bash
# The embedding library under the names that hosts look for, in a directory of its own.
#
#   packaging/library.sh LIBRARY DIRECTORY     LIBRARY is libvervet_embedding.so as cargo builds it
#
# libmonosgen-2.0.so.1 is an empty library that needs libvervet.so.1: whichever name a process opens, it has one runtime.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$2"
cp "$1" "$2/libvervet.so.1"
ln -sf libvervet.so.1 "$2/libvervet.so"
for name in libmonosgen-2.0 libmono-2.0; do
    cc -shared -x c /dev/null -o "$2/$name.so.1" -Wl,-soname,libmonosgen-2.0.so.1 -Wl,--no-as-needed "-Wl,-rpath,\$ORIGIN" -x none "$2/libvervet.so.1"
    # What hosts are linked with: they then need the name that mono's library has.
    printf 'INPUT(%s.so.1 libvervet.so.1)\n' "$name" > "$2/$name.so"
done
