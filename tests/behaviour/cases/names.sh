# Names that are not UTF-8, as obfuscators write them; two of them differ in such bytes only.
cs Names
LC_ALL=C sed -e 's/AAAAA\x00/A\xff\xfeA1\x00/' -e 's/BBBBB\x00/A\xff\xfdA1\x00/' -e 's/Method1\x00/M\xc3thod1\x00/' \
    -e 's/Method2\x00/M\xc2thod1\x00/' -e 's/Field1\x00/\x80ield1\x00/' Names.exe > m.exe
cmp -s Names.exe m.exe && echo "no name was changed"
run m.exe
