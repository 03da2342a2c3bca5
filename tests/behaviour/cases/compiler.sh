# by: vervet
# long
# mcs.exe on Vervet compiles what mcs.exe on Mono compiles, byte for byte but for time stamp (4 bytes) and MVID (16), and
# the result runs.
mcs_exe=/usr/lib/mono/4.5/mcs.exe
everyday=$here/../managed/Everyday
mkdir -p mono vervet
compile() { # directory, runtime, options and source
    local to=$1 runtime=$2; shift 2
    "$runtime" "$mcs_exe" -nologo -langversion:latest -warn:0 "-out:$to/Program.exe" "$@" 2>&1
}
for source in "$here/src/Input.cs" "$everyday/Everyday.cs" "$everyday/Library.cs"; do
    # shellcheck disable=SC2046
    options=$(sed -n 's,^// mcs: *,,p' "$source")
    # shellcheck disable=SC2086
    compile mono mono $options "$source"
    # shellcheck disable=SC2086
    compile vervet "$VERVET" $options "$source"
    differing=$(cmp -l mono/Program.exe vervet/Program.exe | wc -l)
    sizes=$(stat -c %s mono/Program.exe vervet/Program.exe | sort -u | wc -l)
    if [ "$sizes" = 1 ] && [ "$differing" -le 20 ]; then echo "$(basename "$source"): the same image"; else
        echo "$(basename "$source"): $differing bytes differ"; fi
done
"$VERVET" vervet/Program.exe > out && head -n 1 out
