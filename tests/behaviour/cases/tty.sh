# On a terminal: output, keys, and the terminal's settings as they were afterwards.
cs Tty
trap '' PIPE # a program may be gone when its answer comes
cat > each.sh <<'END'
trap : INT # for the program alone
before=$(stty -a)
"$VERVET" Tty.exe "$1"
echo "exit $?"
[ "$(stty -a)" = "$before" ] && echo restored || { echo "not restored"; stty sane; }
END
# mode, what is typed, and (1) how often the program asks the terminal where its cursor is before it is ready for that
tty_run() {
    local out= c asked=0
    echo "\$ $1"
    coproc timeout 20 script -qec "bash each.sh $1" /dev/null 2> /dev/null
    exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
    while IFS= read -r -d '' -n 1 c <&3; do
        out+=$c
        case $out in
            *$'\033[6n')
                printf '\033[1;1R' >&4 2> /dev/null
                if [ $((++asked)) = "${3:-1}" ]; then
                    sleep 0.5
                    printf "$2" >&4 2> /dev/null
                fi
                ;;
        esac
    done
    exec 3<&- 4>&-
    wait
    printf '%s' "$out" | normalise | cat -v
}
tty_run none ""
tty_run line 'hi there\n' 2
tty_run color ""
tty_run key 'x'
tty_run key '\033[A'
tty_run exit ""
tty_run throw ""
tty_run cancel '\003'
tty_run cancelled '\003'
tty_run interrupted '\003'
tty_run toggled '\003'
tty_run read '\003'
