#!/bin/bash
# Writes X.expected for each given tests/managed program X.cs or X.il from what Mono prints. Read it before you commit it.
set -euo pipefail

for source in "$@"; do
    exe=$(mktemp --suffix=.exe)
    # shellcheck disable=SC2046
    case $source in
        *.il) ilasm -quiet "-output:$exe" "$source" ;;
        *)    mcs -nologo -unsafe -langversion:latest -warn:0 -r:System.Core.dll $(sed -n 's,^// mcs: *,,p' "$source") "-out:$exe" "$source" ;;
    esac
    code=0
    # shellcheck disable=SC2046
    timeout -k 5 60 env $(sed -n 's,^// env: *,,p' "$source") mono "$exe" $(sed -n 's,^// args: *,,p' "$source") > "${source%.*}.expected" < /dev/null || code=$?
    rm -f "$exe"
    echo "${source%.*}.expected: $(wc -l < "${source%.*}.expected") lines, exit code $code"
done
