cs Ends
for w in wrap again reset null index "zero 2" cast parse cctor cctor2 cctor-twice generic inner lambda list dictionary linq invoke \
    aggregate bad-text dispatch trace; do
    run Ends.exe $w
done
