"""report.py - what the scripts of this folder share: Taichi on so many threads, and the line that ../run reads."""
import json
import os
import statistics

import taichi as ti


def init(**options):
    threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, offline_cache=False, log_level=ti.ERROR, **options)
    return threads


def report(bench, threads, n, seconds, work, checksum):
    """`work`: units of work in one of `seconds`, in millions."""
    median = statistics.median(seconds)
    line = {"bench": bench, "variant": "taichi", "threads": threads, "n": n, "reps": len(seconds), "best_s": min(seconds),
            "median_s": median, "best_rate": work / min(seconds), "median_rate": work / median, "checksum": checksum}
    print(json.dumps(line, separators=(",", ":")))
