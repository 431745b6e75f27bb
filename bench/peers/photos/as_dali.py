"""Runs a script with our galatea.dali in the place of nvidia.dali: as_dali.py FOLDER-OF-THE-PACKAGE SCRIPT [ARGUMENT...]."""

import os
import runpy
import sys

package, script = sys.argv[1:3]
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(os.path.abspath(script))
sys.path.insert(1, package)

import galatea.dali

galatea.dali.install()
runpy.run_path(script, run_name="__main__")
