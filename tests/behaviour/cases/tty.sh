# On a terminal: output, keys, and the terminal's settings as they were afterwards.
cs Tty
cat > each.sh <<'END'
before=$(stty -a)
"$VERVET" Tty.exe "$1"
echo "exit $?"
[ "$(stty -a)" = "$before" ] && echo restored || { echo "not restored"; stty sane; }
END
tty_run() { # mode, what is typed
    echo "\$ $1"
    { sleep 1.2; printf "$2"; sleep 1; } | timeout 20 script -qec "bash each.sh $1" /dev/null | normalise | cat -v
}
tty_run none ""
tty_run line 'hi there\n'
tty_run color ""
tty_run key 'x'
tty_run key '\033[A'
tty_run exit ""
tty_run throw ""
