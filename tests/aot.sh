#!/bin/bash
# What was compiled ahead is used, changes nothing, and is not believed if it might be wrong.
#
# Each case prints `ok NAME`, or `differs NAME: why`. Cases about the system's directory are for root, to whom it must belong.
#
#   tests/aot.sh          VERVET names the runtime, CACHE a folder for what is compiled here
. tests/cache/functions.sh

lib=/usr/lib/mono/4.5
program_files=("$work/Order.exe" "$work/Library.dll")
# ahead ARGUMENTS: compiles; what it says in $said.
ahead() { said=$("$VERVET" aot "$@" 2>&1); code=$?; [ "$code" = 0 ] || differs "aot: code $code, $said"; }
is_root() { [ "$(id -u)" = 0 ]; }
# compiled N: so many methods at most were compiled in the last run.
compiled() {
    local n; n=$(sed -n 's/^methods compiled *\([0-9]*\).*/\1/p' "$work/stats")
    [ "${n:-9999}" -le "$1" ] || { differs "$2: $n methods are compiled"; return 1; }
}

# The core library is compiled once, and copied; the others are small.
case=library; fresh
ahead $lib/mscorlib.dll
rm -rf "$work/kept"; mv "$work/code" "$work/kept"
kept() { fresh; cp -a "$work/kept" "$work/code"; }
run off; plain_compiled=$(sed -n 's/^methods compiled *\([0-9]*\).*/\1/p' "$work/stats")
[[ $said == *" 0 cannot be"* ]] && ok || differs "$said"

case=used; kept
ahead "${program_files[@]}"
run read; same first && warm first && compiled $((plain_compiled / 8)) first &&
    run verify && same verify && warm verify && run read && same again && compiled 10 again && ok

# Classes in the other order: nothing that was compiled ahead assumes one of them.
case=order; kept
ahead "${program_files[@]}"
run off other; other=$out
run verify other; [ "$out" = "$other" ] && warm other && ok || differs "$(diff <(echo "$other") <(echo "$out") | sed -n 2p)"

# Again: everything is there.
case=again; kept
ahead "${program_files[@]}"; ahead "${program_files[@]}"
[[ $said != *" 0 were there"* ]] && ! grep -q '[^0-9][1-9][0-9]* methods compiled' <<< "$said" && ok || differs "$said"

# Assemblies are loaded when the program comes to them.
case=loads; kept
program=Odd
ahead "$work/Odd.exe" "$work/Library.dll"
export VERVET_BACKGROUND_COMPILER=0
for how in last first; do
    run off $how; wanted=$out
    run read $how; same $how && run verify $how && same "$how, verify"
done && ok
unset VERVET_BACKGROUND_COMPILER
program=Order; run off; wanted=$out

# Another content with the same name, MVID, length and time of the last write.
case=changed; kept
cp -p "$work/Library.dll" "$work/Library.keep"
ahead "${program_files[@]}"
perl -0pi -e 's/\x44\x33\x22\x11/\x55\x33\x22\x11/' "$work/Library.dll"
touch -r "$work/Library.keep" "$work/Library.dll"
run read; [[ $out == *11223355* ]] || differs "right after: $(grep 1122 <<< "$out")"
run verify; [[ $out == *11223355* ]] || differs "verify: $(grep 1122 <<< "$out")"
ahead "${program_files[@]}"; run read; [[ $out == *11223355* ]] && warm "compiled again" || differs "compiled again: $(grep 1122 <<< "$out")"
mv "$work/Library.keep" "$work/Library.dll"
run read; same "the old one again" && ok

# The same content in another file, at another time: as when it was packed and unpacked.
case=unpacked; kept
ahead "${program_files[@]}"
mkdir -p "$work/elsewhere"; cp "$work/Order.exe" "$work/Library.dll" "$work/elsewhere"
program=elsewhere/Order
run read; same elsewhere && warm elsewhere && compiled $((plain_compiled / 8)) elsewhere && ok
program=Order; rm -rf "$work/elsewhere"

case=damaged; kept
ahead "${program_files[@]}"
for n in $(seq 6); do
    for f in "$work"/code/*/*.code "$work"/code/contents; do
        perl -e 'my ($f, $n) = @ARGV; srand($n); open(F, "+<", $f); my $s = -s $f; for (1..40) { seek(F, int(rand($s)), 0); print F chr(int(rand(256))); }' "$f" "$n"
    done
    run read; same "round $n" || break
done
for f in "$work"/code/*/*.code "$work"/code/contents; do truncate -s $(($(stat -c %s "$f") / 2)) "$f"; done
run read; same truncated && ok

# A profile has what a run used, and restricts what is compiled to that.
case=profile; kept
rm -f "$work/profile"
"$VERVET" --cache=off "--write-profile=$work/profile" "$work/Order.exe" > /dev/null; "$VERVET" --cache=off "--write-profile=$work/profile" "$work/Order.exe" other > /dev/null
rm -rf "$work/code"
ahead "--profile=$work/profile" $lib/mscorlib.dll "${program_files[@]}"
size=$(du -k "$work/code" | tail -n 1 | cut -f 1)
run verify; same verify && warm verify && run read && compiled $((plain_compiled / 8)) profile && [ "$size" -lt 3000 ] && ok || differs "$size KiB"
echo nonsense > "$work/profile"
"$VERVET" aot "--profile=$work/profile" "$work/Order.exe" > /dev/null 2>&1 && differs "a profile that is none"
"$VERVET" --write-profile="$work/profile" "$work/Order.exe" > /dev/null 2>&1; [ "$(cat "$work/profile")" = nonsense ] || differs "a file that is no profile is overwritten"
rm -f "$work/profile"

# What is no assembly, or not there, is said; the others are compiled.
case=errors; fresh
mkdir -p "$work/"$'odd \n"name\''
odd=$work/$'odd \n"name\''/'-ä b.exe'
cp "$work/Order.exe" "$odd"; cp "$work/Library.dll" "$(dirname "$odd")"
head -c 3000 "$work/Order.exe" > "$work/cut.exe"
out=$("$VERVET" aot "$work/nowhere.dll" tests/aot.sh /dev/null "$work" "$work/cut.exe" "$odd" 2> "$work/stats"); code=$?
[ "$code" = 1 ] && grep -q 'nowhere.dll: No such file' "$work/stats" && grep -q 'aot.sh: File does not contain a valid CIL image' "$work/stats" &&
    grep -q '/dev/null: File does not' "$work/stats" && grep -q 'This is a directory' "$work/stats" && grep -q 'cut.exe: File does not' "$work/stats" &&
    [ "$(wc -l < "$work/stats")" = 5 ] && [[ $out == *"methods compiled"* ]] && ok || differs "code $code: $out $(cat "$work/stats")"
rm -rf "$work/cut.exe" "$(dirname "$odd")"
for bad in "" "--nonsense x.dll" "--system" "--profile=/nonexistent x.dll"; do
    # shellcheck disable=SC2086 # Words.
    "$VERVET" aot $bad > /dev/null 2>&1; [ $? = 1 ] || differs "aot $bad is no error"
done
(VERVET_CACHE_DIR=/proc/self/code "$VERVET" aot "$work/Order.exe" > "$work/stats" 2>&1) && differs "a directory that cannot be is no error"
grep -q proc "$work/stats" || differs "$(cat "$work/stats")"

# A pipe that nobody writes to holds nobody up; nor does a library that calls itself as the core library does.
case=odd-files; fresh
rm -f "$work/pipe.dll"; mkfifo "$work/pipe.dll"
timeout -k 1 20 "$VERVET" aot "$work/pipe.dll" > "$work/stats" 2>&1; code=$?
rm -f "$work/pipe.dll"
[ "$code" = 1 ] && grep -q 'pipe.dll: File does not contain a valid CIL image' "$work/stats" || differs "pipe: code $code: $(cat "$work/stats")"
mkdir -p "$work/other"; echo 'public class C { public int F() { return 1; } }' > "$work/other/C.cs"
mcs -nologo -target:library "-out:$work/other/mscorlib.dll" "$work/other/C.cs"; mv "$work/other/mscorlib.dll" "$work/other/Other.dll"
"$VERVET" aot "$work/other/Other.dll" > "$work/stats" 2>&1; code=$?
[ "$code" = 1 ] && grep -q 'It is not the core library' "$work/stats" && ok || differs "core library: code $code: $(cat "$work/stats")"
rm -rf "$work/other"

# The workers of a process that was killed end with it.
case=killed; fresh
"$VERVET" aot $lib/mscorlib.dll > /dev/null 2>&1 & pid=$!
for n in $(seq 200); do worker=$(pgrep -P $pid) && break; sleep 0.02; done
sleep 0.5
{ kill -9 $pid; wait $pid; } 2> /dev/null
for n in $(seq 40); do readlink "/proc/$worker/exe" > /dev/null || break; sleep 0.05; done
[ -n "$worker" ] && ! readlink "/proc/$worker/exe" > /dev/null && ok || differs "worker '$worker' goes on"

# Several at once, some killed.
case=together; fresh
for n in $(seq 8); do
    "$VERVET" aot "${program_files[@]}" > "$work/out.$n" 2>&1 & pids[n]=$!
    [ $((n % 3)) = 0 ] && { sleep 0.02; kill -9 "${pids[n]}"; } 2> /dev/null
done 2> /dev/null
wait
for n in 1 2 4 5 7 8; do grep -q 'compiled' "$work/out.$n" && ! grep -q '^vervet' "$work/out.$n" || differs "$(cat "$work/out.$n")"; done
rm -f "$work"/out.*
run verify; same after && ok

# As package scripts call mono.
case=mono; fresh
"$VERVET" --aot=full "$work/Library.dll" > "$work/stats" 2>&1 || differs "$(cat "$work/stats")"
ls "$work"/{code,system}/*/Library*.code > /dev/null 2>&1
where=$(find "$work/code" "$work/system" -name 'Library*.code' 2> /dev/null)
if is_root; then [[ $where == "$work/system/"* ]]; else [[ $where == "$work/code/"* ]]; fi && ok || differs "$where"
"$VERVET" --aot > /dev/null 2>&1 && differs "--aot without a file is no error"

is_root || exit 0

# From here on: the system's directory.
shared() { fresh; cp -a "$work/kept" "$work/system"; chmod -R go+rX "$work/system"; ahead --system "${program_files[@]}"; }

case=system; shared
odd=$(find "$work/system" \( -type f ! -perm 644 ! -name lock \) -o \( -type d ! -perm 755 \))
[ -z "$odd" ] || differs "rights: $odd"
run read; same first && warm first && compiled $((plain_compiled / 8)) first && run verify && same verify && warm verify &&
    "$VERVET" cache | grep -q "$work/system" && ok

# Another user reads it, and it only.
case=others; shared
chmod 755 "$work"; cp "$VERVET" "$work/vervet"
as_nobody() { setpriv --reuid 65533 --regid 65533 --clear-groups env -u HOME VERVET_CACHE_DIR=/nonexistent/x "$@"; }
if as_nobody test -x "$work/vervet" && as_nobody test -r "$work/Order.exe"; then
    out=$(as_nobody "$work/vervet" --stats "$work/Order.exe" 2> "$work/stats"); code=$?
    hits=$(sed -n 's/^methods from cache *\([0-9]*\).*/\1/p' "$work/stats")
    same nobody && warm nobody && compiled $((plain_compiled / 8)) nobody
    as_nobody "$work/vervet" aot --system "$work/Order.exe" > "$work/stats" 2>&1 && differs "nobody may write"
    grep -q 'is for root' "$work/stats" || differs "$(cat "$work/stats")"
    # A process with more rights than its user trusts root's files, and no variable.
    chmod 4755 "$work/vervet"
    out=$(VERVET_SYSTEM_CACHE_DIR=$work/system as_nobody "$work/vervet" --stats "$work/Order.exe" 2> "$work/stats"); code=$?
    hits=$(sed -n 's/^methods from cache *\([0-9]*\).*/\1/p' "$work/stats")
    [ -d /var/cache/vervet ] || { same set-uid && cold set-uid; }
    # It writes nothing, whoever asks.
    for words in "--aot" "aot --system" "--write-profile=$work/set-uid.profile"; do
        # shellcheck disable=SC2086 # Words.
        as_nobody env VERVET_SYSTEM_CACHE_DIR="$work/system" MONO_ENV_OPTIONS="$words" "$work/vervet" "$work/Order.exe" > "$work/stats" 2>&1
        code=$?
        [ "$code" = 1 ] && grep -q 'other rights' "$work/stats" || differs "set-uid, $words: code $code, $(head -n 2 "$work/stats")"
    done
    as_nobody "$work/vervet" cache clear --system > "$work/stats" 2>&1 && differs "set-uid: cleared"
    grep -q 'other rights' "$work/stats" || differs "set-uid: $(cat "$work/stats")"
    [ ! -e "$work/set-uid.profile" ] || differs "set-uid: a profile is written"
    ok
else
    ok # The folder of this test is not to be seen by others.
fi
rm -f "$work/vervet"; chmod 700 "$work"

# A file of another build goes after a month, one of this build never for its age; `cache clear --system` removes all.
case=old; shared
touch -d '400 days ago' "$work"/system/*/*.code
"$VERVET" aot --system "$work/Odd.exe" > /dev/null 2>&1 || differs "aot"
ls "$work"/system/*/Library*.code > /dev/null 2>&1 || differs "a file went for its age"
mkdir "$work/system/0123456789abcdef"; echo x > "$work/system/0123456789abcdef/a-0123456789abcdef-0.code"
touch -d '400 days ago' "$work/system/0123456789abcdef/a-0123456789abcdef-0.code"
rm -f "$work"/system/*/Odd*.code
"$VERVET" aot --system "$work/Odd.exe" > /dev/null 2>&1 || differs "aot again"
[ ! -e "$work/system/0123456789abcdef" ] || differs "another build's files stay"
"$VERVET" cache clear --system > "$work/stats" 2>&1 || differs "$(cat "$work/stats")"
[ -z "$(find "$work/system" -name '*.code')" ] && ok || differs "not cleared: $(cat "$work/stats")"

case=rights; shared
# Without a cache of the user's, so that every method comes from there.
export VERVET_CACHE_DIR=/nonexistent/code
run read; same before && warm before
chmod 666 "$work"/system/*/*.code; run read; same files && cold files
chmod 644 "$work"/system/*/*.code; chmod 777 "$work/system"; run read; same folder && cold folder
chmod 755 "$work/system"; chmod 777 "$work/system"/*/; run read; same "inner folder" && cold "inner folder"
chmod 755 "$work"/system/*/; chown 65534 "$work"/system/*/*.code; run read; same owner && cold owner
chown 0 "$work"/system/*/*.code; chown 65534 "$work/system"; run read; same "owner of the folder" && cold "owner of the folder"
chown 0 "$work/system"; chown 65534 "$work"; run read; same "owner above" && cold "owner above"
chown 0 "$work"; mv "$work/system" "$work/real"; ln -s real "$work/system"; run read; same link && cold link
rm "$work/system"; mv "$work/real" "$work/system"
chmod 666 "$work/system/contents"; run read; same "writable memo" && warm "writable memo"
chmod 644 "$work/system/contents"; run read; same after && warm after && ok
export VERVET_CACHE_DIR=$work/code
