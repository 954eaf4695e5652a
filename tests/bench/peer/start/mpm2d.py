# One step of ../mpm2d_taichi.py.
import os
import runpy
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
sys.argv = ["mpm2d_taichi.py"]
runpy.run_path(f"{here}/../mpm2d_taichi.py")
