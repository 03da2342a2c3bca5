cs Place
mkdir -p sub/deep link
run Place.exe
run Place.exe a "b c" "" --debug -- "ü"
run ./Place.exe
run "$PWD/Place.exe" x
cp Place.exe sub/
run sub/Place.exe
run ./sub/../sub/Place.exe
(cd sub/deep && run ../Place.exe)
ln -s ../Place.exe link/Other.exe
run link/Other.exe
cp Place.exe NoExtension
run NoExtension
