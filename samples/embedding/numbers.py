"""Managed collections from Python: pythonnet on libvervet.

    pip install pythonnet
    PYTHONNET_RUNTIME=mono PYTHONNET_MONO_LIBMONO=lib/libvervet.so.1 python3 samples/embedding/numbers.py
"""
import clr  # noqa: F401  (starts the runtime)
from System import Comparison, Int32
from System.Collections.Generic import List

numbers = List[Int32]()
for n in (3, 1, 2):
    numbers.Add(n)
numbers.Sort(Comparison[Int32](lambda a, b: b - a))
print(list(numbers))
