cs Ends
for o in --debug --runtime=v4.0.30319 -O=all -O=-all -O=inline,cfold --gc=sgen --server --desktop --optimize=all --llvm --nollvm --debug=casts \
    --debug=mdb-optimizations --assembly-loader=strict --verify-all --nothing-to-see; do
    run $o Ends.exe return | sed '/^err/d'
done
ln -s "$VERVET" mono
SHOWN="mono Ends.exe return" note ./mono Ends.exe return < /dev/null
SHOWN="mono by exec" note sh -c 'exec ./mono --debug $MONO_OPTIONS Ends.exe return' < /dev/null
run --nothing-to-see Ends.exe
run -z Ends.exe
