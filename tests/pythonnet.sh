#!/bin/bash
# pythonnet's own test suite on the embedding library.
#
#   tests/pythonnet.sh LIBRARY SOURCES [PYTEST-ARGUMENT...]
#
# LIBRARY is libvervet.so.1, or mono's library, to compare. SOURCES is a checkout of pythonnet (its package of sources has the tests, but not the C# classes that
# they use). The interpreter ($EMBED_PYTHON, else python3) has pythonnet and pytest. Its build of Python.Runtime.dll is used; Python.Test.dll is compiled by mcs, and
# so that mcs takes it, three constructs that came later than C# 7 are written in the older way. The tests of domains are left out: they build a program with the .NET SDK.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
library=$(realpath "$1") sources=$(realpath "$2")
shift 2
python=${EMBED_PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runtime=$("$python" -c 'import pathlib, pythonnet; print(pathlib.Path(pythonnet.__file__).parent / "runtime")')
cp -r "$sources/src/testing" "$work/testing"
cp -r "$sources/tests" "$work/tests"
sed -i -e 's/^namespace Python.Test;/namespace Python.Test {/' -e 's/storage ??= \[\]/storage ?? (storage = new Dictionary<string, object>())/' "$work/testing/dlrtest.cs"
echo '}' >> "$work/testing/dlrtest.cs"
sed -i 's/^        public T Get(T x);/        T Get(T x);/' "$work/testing/interfacetest.cs"
mcs -nologo -langversion:latest -warn:0 -t:library -unsafe "-keyfile:$sources/src/pythonnet.snk" "-out:$work/Python.Test.dll" "-r:$runtime/Python.Runtime.dll" \
    -r:/usr/lib/mono/4.5/Facades/netstandard.dll -r:Microsoft.CSharp.dll -r:System.Core.dll "$work"/testing/*.cs
cat > "$work/tests/conftest.py" << END
import os, sys
from pathlib import Path

import pytest

fixtures = Path(__file__).parent / "fixtures"
sys.path.append(str(fixtures))
collect_ignore = ["domain_tests/test_domain_reload.py"]


def pytest_configure(config):
    import clr

    sys.path.append("$work")
    clr.AddReference("Python.Test")


@pytest.fixture()
def filepath():
    return lambda name: os.path.join(fixtures, name)
END
cd "$work/tests"
PYTHONNET_RUNTIME=mono PYTHONNET_MONO_LIBMONO=$library MONO_THREADS_SUSPEND=${MONO_THREADS_SUSPEND-preemptive} "$python" -m pytest -q -p no:cacheprovider "$@" .
