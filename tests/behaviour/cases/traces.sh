# Which frames traces show. IL offsets are compared in ends.sh; here the code generators may differ.
cs Ends
plain() { sed -E 's/ \[0x[0-9a-f]+\]//' | grep -v '__icall_wrapper_\|(wrapper castclass)'; }
for w in wrap again reset null index "zero 2" cast parse cctor cctor2 generic inner lambda dictionary linq invoke aggregate dispatch trace; do
    run Ends.exe $w | plain
done
