# The culture that a process begins with, and resources of named cultures in satellite assemblies.
unset LC_ALL LANG LC_CTYPE
cs Cultured
# The variables reach the program only: the shell would complain of locales that are not installed.
with() { SHOWN="$1 vervet ${*:2}" note env $1 "$VERVET" "${@:2}"; }
for locale in C POSIX C.UTF-8 de_DE.UTF-8 de_DE@euro de_XX de zh_Hant_TW zh_TW.Big5 sr_Latn_RS ar_SA.UTF-8 th_TH en@x.y a_b_c_d xx_YY iw_IL no_NO '' . DE_de; do
    with LANG=$locale Cultured.exe
done
with 'LC_ALL=fr_CH LANG=de_DE' Cultured.exe
with 'LC_ALL= LANG=de_DE' Cultured.exe
with LC_TIME=de_DE Cultured.exe

printf 'hello=hello\nbye=bye\n' > Greetings.txt
printf 'hello=Guten Tag\nbye=Auf Wiedersehen\n' > de.txt
printf 'hello=Grüezi\n' > de-CH.txt
printf 'hello=您好\n' > zh-Hant.txt
for text in Greetings de de-CH zh-Hant; do resgen $text.txt $text.resources > /dev/null; done
cs Cultured -resource:Greetings.resources
for culture in de de-CH zh-Hant; do
    mkdir -p $culture
    mv $culture.resources Greetings.$culture.resources
    al -nologo -culture:$culture -embed:Greetings.$culture.resources -out:$culture/Cultured.resources.dll > /dev/null
done
with LANG=de_CH.UTF-8 Cultured.exe de de-CH de-AT zh-TW zh-CN fr en-US
with LANG=C Cultured.exe de-CH
