# The packages of the embedding library; packaging/build.sh reads this file.
#
# | package | what it has |
# |---|---|
# | libvervet1 | libvervet.so.1, and in a directory of its own what hosts of Mono's library find by its name |
# | libvervet-dev | headers, files for pkg-config, what hosts are linked with |
#
# Debian's package of Mono has libmonosgen-2.0.so.1 itself, so ours lies where a host looks only if it is told to (LD_LIBRARY_PATH, PKG_CONFIG_PATH).
library=$beside/libvervet_embedding.so
check_floor "$library"
RPATH='' packaging/library.sh "$library" "$work/lib" /usr/include/vervet
directory=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2> /dev/null || echo x86_64-linux-gnu)

tree libvervet1
root=$work/libvervet1
mkdir -p "$root/$directory/vervet"
stripped "$work/lib/libvervet.so.1" "$root/$directory/libvervet.so.1"
for name in libmonosgen-2.0 libmono-2.0; do
    stripped "$work/lib/$name.so.1" "$root/$directory/vervet/$name.so.1"
done
find "$root/usr/lib" -type f -exec chmod 644 {} +
printf 'libvervet 1 libvervet1 (>= %s)\n' "$version" > "$root/DEBIAN/shlibs"
chmod 644 "$root/DEBIAN/shlibs"
close libvervet1

tree libvervet-dev
root=$work/libvervet-dev
mkdir -p "$root/usr/include" "$root/$directory/pkgconfig" "$root/$directory/vervet/pkgconfig"
cp -r include "$root/usr/include/vervet"
find "$root/usr/include" -type f -exec chmod 644 {} +
ln -s libvervet.so.1 "$root/$directory/libvervet.so"
install -m 644 "$work"/lib/libmono*-2.0.so "$root/$directory/vervet"
install -m 644 "$work/lib/pkgconfig/vervet.pc" "$root/$directory/pkgconfig"
install -m 644 "$work"/lib/pkgconfig/mono*-2.pc "$root/$directory/vervet/pkgconfig"
close libvervet-dev
