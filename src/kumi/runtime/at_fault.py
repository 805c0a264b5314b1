"""At fault: whose code raised an error, a plug-in's (plugin_files.py) or Kumi's own.

The rule   the frames of the error from the innermost: the first that is no library's says it. A file of a policy is the plug-in
           of its name, other code that is not Kumi's is of a package
Libraries  Python's own, and NumPy: they raise what their callers asked for.
Why        who wrote the plug-in can mend it, once told; a bug of Kumi's is told as one.
Cost       O(frames).
"""

from __future__ import annotations

import sys
import traceback

KUMI = "kumi"
MODULE = "kumi_plugin_"
"""what the module of a plug-in's file is called begins with"""
_LIBRARIES = frozenset((*sys.stdlib_module_names, "numpy", ""))


def at_fault(error: BaseException) -> str:
    """Whose it was, as people know it: `plug-in mine`, `package x`; "" for Kumi's own."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__") or "")
        if module.startswith(MODULE):
            return f"plug-in {module.removeprefix(MODULE)}"
        package = module.partition(".")[0]
        if package == KUMI:
            return ""
        if package not in _LIBRARIES:
            return f"package {package}"
    return ""
