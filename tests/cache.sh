#!/bin/bash
# Attacks on the cache of compiled code: whatever is in the directory, programs do what they do without it.
#
# Each case prints `ok NAME`, or `differs NAME: why`.
#
#   tests/cache.sh        VERVET names the runtime, CACHE a folder for what is compiled here
. tests/cache/functions.sh

case=warm; fresh
run read && same cold && cold cold && run read && same warm && warm warm && run verify && same verify && warm verify && ok

# Code whose compile loads an assembly is kept too, and so are thunks of delegates: nothing is compiled in the second run.
case=loading; fresh
[[ $wanted == *loaded* ]] || differs "the program loads nothing"
run read && run read && same warm && if [[ $stats == "methods compiled      0"* && $stats == *"stubs                 0,"* ]]; then ok
else differs "$(grep -E '^(methods compiled|stubs|cache written)' "$work/stats" | tr '\n' ' ')"; fi

case=order; fresh
run off other; other=$out
run read; run read other; [ "$out" = "$other" ] || differs "the other order after the first"
run read other; [ "$out" = "$other" ] || differs "the other order, warm"
run read; same "the first order again" && run verify other && [ "$out" = "$other" ] && warm "verify" && ok

# A further domain takes no code that assumes initialised classes: it has code of its own, beside the root domain's, whose runs go on as before.
case=second; fresh
run read && same cold && program=Second run read && same second && program=Second run read && same again
few='methods compiled +([0-9]+)'
[[ $stats =~ $few ]] && [ "${BASH_REMATCH[1]}" -le 5 ] || differs "$(grep -E '^(methods compiled|cache rejected)' "$work/stats" | tr '\n' ' ')"
run read && same after && warm after && [[ $stats == "methods compiled      0"* ]] || differs "after: $(head -n 1 "$work/stats")"
program=Second run verify && same verify && ok

# What a method became after many calls is kept too, and read when there are as many again.
case=often; fresh
export VERVET_HOT_CALLS=1 VERVET_BACKGROUND_COMPILER=0
run read && same cold && run read && same warm
again='called often +([1-9][0-9]*) methods compiled again, ([0-9]+) of them'
[[ $(grep often "$work/stats") =~ $again ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] ||
    differs "$(grep often "$work/stats")"
run verify && same verify && ok
unset VERVET_HOT_CALLS VERVET_BACKGROUND_COMPILER

# The trace of methods is that of a run without a cache, but for the word.
case=trace; fresh
trace() { VERVET_BACKGROUND_COMPILER=0 "$VERVET" --trace "--cache=$1" "$work/Order.exe" 2>&1 > /dev/null | sed 's/^\[cached\]/[compile]/; /^\[compile/s/ (.*//'; }
plain=$(trace off); trace read > /dev/null
if [ "$plain" = "$(trace read)" ]; then ok; else differs "methods come in another order"; fi

# Another content with the same name, MVID, length and time of the last write, written in place.
case=swapped; fresh
cp -p "$work/Library.dll" "$work/Library.keep"
run read; run read; warm before
perl -0pi -e 's/\x44\x33\x22\x11/\x55\x33\x22\x11/' "$work/Library.dll"
touch -r "$work/Library.keep" "$work/Library.dll"
run read; [[ $out == *11223355* ]] || differs "right after: $(grep 1122 <<< "$out")"
run read; [[ $out == *11223355* ]] || differs "filled: $(grep 1122 <<< "$out")"
run read; [[ $out == *11223355* ]] && run verify && [[ $out == *11223355* ]] || differs "warm: $(grep 1122 <<< "$out")"
mv "$work/Library.keep" "$work/Library.dll"
run read; same "the old one again" && ok

# A store to a mapped page of a file need not change its times.
case=mapped; fresh
cp -p "$work/Library.dll" "$work/Library.keep"
coproc "$VERVET" --cache=off "$work/Odd.exe" store "$work/Library.dll"
store() { echo "$1" >&"${COPROC[1]}"; read -r -u "${COPROC[0]}"; }
store 69; sleep 2.5; run read; run read; warm before; [[ $out == *11223345* ]] || differs "first: $(grep 1122 <<< "$out")"
store 70; run read; [[ $out == *11223346* ]] && ok || differs "second: $(grep 1122 <<< "$out")"
kill "$COPROC_PID"; wait "$COPROC_PID" 2> /dev/null
mv "$work/Library.keep" "$work/Library.dll"

# A library that is gone, and one of the same name from elsewhere.
case=missing; fresh
run read; run read
mkdir -p "$work/away"; mv "$work/Library.dll" "$work/away"
run read; [[ $out == *FileNotFoundException* ]] || differs "without the library: $out"
out=$(MONO_PATH=$work/away "$VERVET" --cache=read "$work/Order.exe"); code=$?; same "from another folder"
mv "$work/away/Library.dll" "$work"
run read; same "back again" && ok

case=damaged; fresh
run read; run read; warm before
for n in $(seq 20); do
    for f in "$work"/code/*/*.code; do
        perl -e 'my ($f, $n) = @ARGV; srand($n); open(F, "+<", $f); my $s = -s $f; for (1..40) { seek(F, int(rand($s)), 0); print F chr(int(rand(256))); }' "$f" "$n"
    done
    run read; same "round $n" || break
done
run read && same after && ok

case=truncated; fresh
run read; run read; warm before
for f in "$work"/code/*/*.code; do
    for part in 0 10 100 1000 $(($(stat -c %s "$f") - 1)); do truncate -s "$part" "$f"; run read; same "to $part" || break; done
done
ok

case=rights; fresh
run read; run read; warm before
chmod 666 "$work"/code/*/*.code; run read; same "files" && cold "files"
chmod 600 "$work"/code/*/*.code; chmod 777 "$work/code"; run read; same "folder" && cold "folder"
chmod 700 "$work/code"; chmod 777 "$work"; run read; same "folder above" && cold "folder above"
chmod 700 "$work"; mv "$work/code" "$work/real"; ln -s real "$work/code"; run read; same "link" && cold "link"
rm "$work/code"; mv "$work/real" "$work/code"
ln "$(ls "$work"/code/*/mscorlib*.code)" "$work/second"; run read; same "second name"
[ "${hits:-0}" -lt 50 ] || differs "second name: $hits hits"
rm "$work/second"
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$work"/code/*/*.code; run read; same "owner" && cold "owner"
    chown 0 "$work"/code/*/*.code; chown 65534 "$work"; run read; same "owner above" && cold "owner above"; chown 0 "$work"
fi
run read; same after && warm after && ok

case=places; fresh
(unset VERVET_CACHE_DIR HOME; run read; same "no home" && cold "no home")
(unset VERVET_CACHE_DIR; HOME=/nonexistent run read; same "home is not there" && cold "home is not there")
(VERVET_CACHE_DIR=relative run read; same "relative")
(VERVET_CACHE_DIR=/proc/self/code run read; same "read-only")
fresh; run read; same after && run read && warm after && ok

program=Odd

# A look-up loads nothing: what a compile of another run loaded is not loaded for this one.
case=loads; fresh
export VERVET_BACKGROUND_COMPILER=0 # It would compile Calls before Held is initialised.
run off last; wanted=$out
run off first; [[ $out == *"loaded Library"* ]] || differs "the first run does not load more"
run read first; run read last; same "after a run that loads more" && run read last && same warm && ok
unset VERVET_BACKGROUND_COMPILER

# What a compile loads depends on guesses of receivers and on classes that are initialised; loads that are kept are those of the run that uses them.
case=otherwise; fresh
export VERVET_BACKGROUND_COMPILER=0
program=Loads right=1
for what in "guess q" "class early"; do
    read -r one two <<< "$what"
    for order in "$one:$one $two" "$one $two:$one"; do
        fresh; first=${order%%:*} second=${order#*:}
        run off $second; wanted=$out
        run read $first; run read $first; run read $second; same "$second after $first" || right=0
        run read $second; same "$second, warm" || right=0
    done
done
[ $right = 0 ] || ok
program=Odd
unset VERVET_BACKGROUND_COMPILER

# The program closes the cache's descriptors and opens a directory of its own, over and over.
case=closed; fresh
mkdir -p "$work/victim/letters"; echo x > "$work/victim/letters/old"; touch -d '90 days ago' "$work/victim/letters/old" "$work/victim/letters"
before=$(find "$work/victim" -printf '%P %T@\n' | sort)
run off close "$work/victim"; wanted=$out
run read close "$work/victim"; same cold && run read close "$work/victim" && same warm
if [ "$before" = "$(find "$work/victim" -printf '%P %T@\n' | sort)" ]; then ok; else differs "the directory was changed"; fi

# The directory that is named is somebody's.
case=foreign
out=$(VERVET_CACHE_DIR=$work/victim "$VERVET" --cache=read "$work/Odd.exe" none 2>&1)
VERVET_CACHE_DIR=$work/victim "$VERVET" cache clear > /dev/null 2>&1 && differs "cleared"
if [ "$before" = "$(find "$work/victim" -printf '%P %T@\n' | sort)" ]; then ok; else differs "the directory was changed"; fi
rm -rf "$work/victim"

# Files get shorter while the program runs.
case=shrinks; fresh
wanted=$(echo | "$VERVET" --cache=off "$work/Odd.exe" wait)
echo | "$VERVET" --cache=read "$work/Odd.exe" wait > /dev/null
rm -f "$work/in" "$work/out"; mkfifo "$work/in"
"$VERVET" --cache=read "$work/Odd.exe" wait < "$work/in" > "$work/out" 2>&1 &
exec 9> "$work/in"
until grep -q ready "$work/out"; do sleep 0.02; done
truncate -s 100 "$work"/code/*/*.code
echo >&9; exec 9>&-; wait $!; code=$?
out=$(cat "$work/out"); same "exit code $code" && ok

# A server ends by a signal; what it compiled is kept all the same.
case=server; fresh
"$VERVET" --cache=read "$work/Odd.exe" serve > "$work/out" 2>&1 &
for _ in $(seq 600); do ls "$work"/code/*/mscorlib*.code > /dev/null 2>&1 && break; sleep 0.05; done
kill -9 $! 2> /dev/null; wait $! 2> /dev/null
run off none; wanted=$out
run read none; same after && warm after && ok

# So is what a program compiled that ends with an exception.
case=thrown; fresh
run read throw; [ "$code" = 1 ] || differs "exit code $code"
run read throw; warm again && ok

case=umask; fresh
run read umask; same cold && run read umask && same warm && warm warm
odd=$(find "$work/code" \( -type f ! -perm 600 \) -o \( -type d ! -perm 700 \))
if [ -z "$odd" ]; then ok; else differs "rights: $odd"; fi

# Who limits the memory gets all of it.
case=limited; fresh
(ulimit -v 4000000; run read none; same limited && cold limited && run read none && cold again) && ok
program=Order
run off; wanted=$out

# Many processes at once, some killed.
case=killed; fresh
for n in $(seq 50); do
    "$VERVET" --cache=read "$work/Order.exe" > "$work/out.$n" 2>&1 &
    pids[n]=$!
    sleep "0.0$((RANDOM % 10))"
    [ $((n % 2)) = 0 ] || { kill -9 "${pids[n]}"; } 2> /dev/null
    [ $((n % 6)) != 0 ] || wait
done 2> /dev/null
wait
bad=0
for n in $(seq 2 2 50); do [ "$(cat "$work/out.$n")" = "$wanted" ] || bad=$((bad + 1)); done
rm -f "$work"/out.*
[ "$bad" = 0 ] || differs "$bad of 25 print something else"
run read; run verify; same after && warm after && ok
