#!/bin/bash
# Installs the Debian packages a purpose needs, if one of its commands or files is missing; otherwise does nothing.
#
#   run    the class libraries and the C# compiler     (mono-devel)
#   test   also the disassembler and what builds the native half   (mono-utils, gcc, make, xz-utils)
set -euo pipefail

purpose=${1:-run}
missing=()
have() { command -v "$1" > /dev/null 2>&1; }
want() { # package, then the commands or absolute paths it is wanted for
    local package=$1 item; shift
    for item in "$@"; do
        case $item in
            /*) [ -e "$item" ] ;;
            *)  have "$item" ;;
        esac || { missing+=("$package"); return 0; }
    done
}

want mono-devel mcs ilasm /usr/lib/mono/4.5/mscorlib.dll /usr/lib/mono/4.5/Facades/System.Runtime.dll /etc/mono/config
want gcc cc
want libc6-dev /usr/include/stdlib.h
if [ "$purpose" = test ]; then
    want mono-utils monodis
    want make make
    want xz-utils xz
    want ca-certificates /etc/ssl/certs/ca-certificates.crt
fi
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    have sudo || { echo "Please install as root: apt-get install ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
echo "Installing ${missing[*]}"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }
apt update
apt install --no-install-recommends "${missing[@]}"
