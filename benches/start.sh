#!/bin/bash
# Times how programs start and end: hello world, mcs on a small file and the class library's tools, under every mode of Vervet there is
# and under mono, in turn, RUNS (9) times.
#
#   benches/start.sh VERVET [PROGRAM...]   PROGRAM is a row of the table, default all that are installed
#
#   vervet      as it runs by itself: without a cache of compiled code, or with `--cache=off` where the command knows `--cache`
#   cold        with an empty cache, which the run fills          (where the command knows `--cache`)
#   warm        with the cache that earlier runs have filled      (likewise)
#   mono        with the AOT images that Debian ships
#   mono-jit    `mono -O=-aot`: compiles everything, as Vervet does without a cache
#
# The tables show medians of wall times in milliseconds and of the largest resident sets in MiB, then what Vervet takes of mono's, with the geometric
# mean, and whether benches/start/aims.txt is met. Every single value is in .cache/benches/start/values.tsv. A program
# or peer that is missing is skipped, and said so; a run that fails counts for nothing and is said.
set -uo pipefail

runs=${RUNS:-9}
[ "${1:-}" ] || { sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2; }
vervet=$(realpath "$1")
shift
cd "$(dirname "$0")/.." || exit 1
out=$PWD/.cache/benches/start lib=/usr/lib/mono/4.5
mkdir -p "$out"
cc -O2 -o "$out/measure" benches/measure.c || exit 1

# ---- inputs ----------------------------------------------------------------------------------------------------------

cat > "$out/hello.cs" << 'CS'
class Hello { static void Main () { System.Console.WriteLine ("Hello World"); } }
CS
mcs -nologo "-out:$out/hello.exe" "$out/hello.cs" || exit 1
cat > "$out/hello.il" << 'IL'
.assembly extern mscorlib { }
.assembly hello { }
.class Hello extends [mscorlib]System.Object {
    .method static void Main () { .entrypoint ldstr "Hello World" call void [mscorlib]System.Console::WriteLine (string) ret }
}
IL
printf 'one=1\ntwo=2\n' > "$out/text.txt"
cat > "$out/small.xml" << 'XML'
<list><item name="one">1</item><item name="two">2</item></list>
XML
cat > "$out/small.xsd" << 'XML'
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list"><xs:complexType><xs:sequence>
<xs:element name="item" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:schema>
XML
cat > "$out/small.proj" << 'XML'
<Project DefaultTargets="Say" ToolsVersion="4.0" xmlns="http://schemas.microsoft.com/developer/msbuild/2003">
<Target Name="Say"><Message Text="said"/></Target></Project>
XML

cat > "$out/Small.atg" << 'ATG'
COMPILER Small
CHARACTERS digit = '0' .. '9'.
TOKENS number = digit { digit }.
PRODUCTIONS Small = number { '+' number }.
END Small.
ATG
# Coco's templates lie beside the grammar.
cp /usr/share/coco-cs/*.frame "$out" 2> /dev/null

# A row: name, program, arguments. The arguments hold no spaces.
rows=(
    "hello $out/hello.exe"
    "mcs $lib/mcs.exe -r:System.Xml.dll -r:System.Xml.Linq.dll -out:$out/everyday.exe tests/managed/Everyday/Everyday.cs"
    "csharp $lib/csharp.exe -e 1+1"
    "monop $lib/monop.exe System.String"
    "ikdasm $lib/ikdasm.exe $out/hello.exe"
    "ilasm $lib/ilasm.exe -output:$out/il.exe $out/hello.il"
    "resgen $lib/resgen.exe $out/text.txt $out/text.resources"
    "sn $lib/sn.exe -q -Tp $lib/mscorlib.dll"
    "al $lib/al.exe -t:lib -embed:$out/text.txt -out:$out/embedded.dll"
    "xsd $lib/xsd.exe $out/small.xsd -classes -outputdir:$out"
    "xmltool $lib/mono-xmltool.exe --prettyprint $out/small.xml"
    "api-info $lib/mono-api-info.exe $out/hello.exe"
    "xbuild $lib/xbuild.exe /nologo $out/small.proj"
    "gendarme /usr/lib/gendarme/gendarme.exe --quiet --limit 0 $out/hello.exe"
    "nunit /usr/lib/nunit/nunit-console.exe -help"
    "de4dot /usr/lib/de4dot/de4dot.exe -h"
    "coco /usr/share/coco-cs/Coco.exe $out/Small.atg"
)

# ---- the modes -------------------------------------------------------------------------------------------------------

modes=(vervet)
if "$vervet" --help 2> /dev/null | grep -q -e '--cache'; then
    modes+=(cold warm)
    off=--cache=off
else
    echo "this Vervet keeps no compiled code: no columns cold and warm"
    off=
fi
if command -v mono > /dev/null; then modes+=(mono mono-jit); else echo "mono is not installed: skipped"; fi

# What the machine has compiled ahead is left out.
export VERVET_SYSTEM_CACHE_DIR=/nonexistent/code
# Caches of these runs only. `cold` has one that is removed before each run.
prepare() { # mode
    [ "$1" != cold ] || rm -rf "$out/cold"
    mkdir -p -m 700 "$out/cold" "$out/warm"
}
run() { # file for the values, mode, row, command...
    local file=$1 mode=$2 row=$3 code; shift 3
    prepare "$mode"
    : > "$out/took"
    case $mode in
        # shellcheck disable=SC2086
        vervet)   timeout 300 "$out/measure" -t "$out/took" "$vervet" $off "$@" ;;
        cold)     XDG_CACHE_HOME=$out/cold timeout 300 "$out/measure" -t "$out/took" "$vervet" "$@" ;;
        warm)     XDG_CACHE_HOME=$out/warm timeout 300 "$out/measure" -t "$out/took" "$vervet" "$@" ;;
        mono)     timeout 300 "$out/measure" -t "$out/took" mono "$@" ;;
        mono-jit) timeout 300 "$out/measure" -t "$out/took" mono -O=-aot "$@" ;;
    esac > "$out/stdout" 2> "$out/stderr" < /dev/null
    code=$?
    if [ $code != 0 ]; then
        echo "$row under $mode: code $code: $(cat "$out/stderr" "$out/stdout" | grep -m1 . | cut -c1-160)"
        return 1
    fi
    awk -v OFS='\t' -v m="$mode" -v r="$row" '{ print m, r, $1, $2 }' "$out/took" >> "$file"
}

values=$out/values.tsv
: > "$values"
rm -rf "$out/cold" "$out/warm"
shown=()
for row in "${rows[@]}"; do
    read -r name program arguments <<< "$row"
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    [ -e "$program" ] || { echo "$name is not installed: skipped"; continue; }
    shown+=("$name")
    # The first runs fill the page cache and the cache of compiled code; they do not count. A mode in which the program fails then is left out.
    able=()
    for mode in "${modes[@]}"; do
        # shellcheck disable=SC2086
        run /dev/null "$mode" "$name" "$program" $arguments && able+=("$mode")
    done
    for ((i = 0; i < runs; i++)); do
        for mode in "${able[@]}"; do
            # shellcheck disable=SC2086
            run "$values" "$mode" "$name" "$program" $arguments
        done
    done
done

# ---- the tables ------------------------------------------------------------------------------------------------------

sort -t $'\t' -k1,3 -k4,4g "$values" | awk -F '\t' -v modes="${modes[*]}" -v rows="${shown[*]}" -v aims=benches/start/aims.txt -v runs="$runs" '
    function flush() { if (last != "") m[last] = v[int((count + 1) / 2)] }
    function table(figure, heading,   i, j, line) {
        line = sprintf("%-12s", heading)
        for (j = 1; j <= nm; j++) line = line sprintf(" %10s", mode[j])
        print line
        for (i = 1; i <= nr; i++) {
            line = sprintf("%-12s", row[i])
            for (j = 1; j <= nm; j++) line = line sprintf(" %10s", (mode[j], row[i], figure) in m ? sprintf("%.1f", m[mode[j], row[i], figure]) : "-")
            print line
        }
    }
    function ratios(figure, heading,   i, j, line, x, sum, n, limit, verdict) {
        line = sprintf("%-12s", heading)
        for (j = 1; j <= nm; j++) if (mode[j] !~ /^mono/) line = line sprintf(" %10s", mode[j])
        print line
        for (i = 1; i <= nr; i++) {
            line = sprintf("%-12s", row[i])
            verdict = ""
            for (j = 1; j <= nm; j++) {
                if (mode[j] ~ /^mono/) continue
                if (!((mode[j], row[i], figure) in m) || !(("mono", row[i], figure) in m)) { line = line sprintf(" %10s", "-"); continue }
                x = m[mode[j], row[i], figure] / m["mono", row[i], figure]
                sum[j] += log(x); n[j]++
                line = line sprintf(" %10.2f", x)
                limit = (mode[j], row[i], figure) in aim ? aim[mode[j], row[i], figure] : aim[mode[j], "any", figure]
                if (limit != "") verdict = verdict "  " mode[j] ": " (x <= limit + 0 ? "met" : "MISSED") " (" limit ")"
            }
            print line verdict
        }
        line = sprintf("%-12s", "mean"); verdict = ""
        for (j = 1; j <= nm; j++) {
            if (mode[j] ~ /^mono/) continue
            if (!n[j]) { line = line sprintf(" %10s", "-"); continue }
            x = exp(sum[j] / n[j])
            line = line sprintf(" %10.2f", x)
            limit = aim[mode[j], "mean", figure]
            if (limit != "") verdict = verdict "  " mode[j] ": " (x <= limit + 0 ? "met" : "MISSED") " (" limit ")"
        }
        print line verdict
    }
    BEGIN {
        nm = split(modes, mode, " "); nr = split(rows, row, " ")
        while ((getline line < aims) > 0) if (line !~ /^#/ && split(line, w, " ") == 4) aim[w[1], w[2], w[3]] = w[4]
    }
    { key = $1 SUBSEP $2 SUBSEP $3; if (key != last) { flush(); last = key; count = 0 } v[++count] = $4 }
    END {
        flush()
        table("wall-time", "ms, of " runs)
        print ""; table("peak-memory", "MiB")
        if (modes !~ /mono/) exit
        print ""; ratios("wall-time", "time / mono")
        print ""; ratios("peak-memory", "MiB / mono")
    }'
