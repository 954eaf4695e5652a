"""bench: what the peers' programs share, as ../ours/bench.lua is for ours."""
import importlib
import os
import sys
import time

threads = int(os.environ.get("THREADS", os.cpu_count()))
_sync = None
_now = time.process_time if os.environ.get("BENCH_CLOCK") == "processor" else time.perf_counter


def arguments(*defaults):
    words = sys.argv[1:]
    return [type(default)(words[k]) if k < len(words) else default for k, default in enumerate(defaults)]


def taichi(**options):
    """Taichi, or Quadrants, whose programs are the same text; with the settings that they advise."""
    global _sync
    name = options.pop("module", "taichi")
    os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
    ti = importlib.import_module(name)
    arch = os.environ.get("PEER_ARCH", "cpu")
    ti.init(arch=getattr(ti, arch), cpu_max_num_threads=threads, log_level=ti.ERROR, **options)
    if ti.lang.impl.current_cfg().arch != getattr(ti, arch) and arch != "cpu":
        sys.exit(f"{name} does not find {arch}")
    _sync = ti.sync
    return ti


def numba():
    os.environ["NUMBA_NUM_THREADS"] = str(threads)
    return importlib.import_module("numba")


def noise(ti):
    """In kernels: a number in [0, 1) made from `k`, the same in every language."""

    @ti.func
    def of(k):
        h = ti.cast(k, ti.u32) * ti.u32(2654435761)
        h = (h ^ (h >> 15)) * ti.u32(2246822519)
        h = h ^ (h >> 13)
        return ti.cast(h >> 8, ti.f32) / 16777216

    return of


def noises(count):
    """The first `count` of them, as an array."""
    import numpy as np

    h = np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(2246822519)
    h = h ^ (h >> np.uint32(13))
    return (h >> np.uint32(8)).astype(np.float32) / np.float32(16777216)


def _say(text):
    print(f"bench: {text}", flush=True)


def run(step=None, checksum=None, start=None, measure=None):
    steps = int(os.environ.get("STEPS", 1))

    def sync():
        if _sync:
            _sync()

    def once():
        if start:
            start()
            sync()
        if measure:
            return measure()
        begin = _now()
        for _ in range(steps):
            step()
        sync()
        return (_now() - begin) / steps * 1e3

    once()
    _say("ready")
    for line in sys.stdin:
        word, _, count = line.strip().partition(" ")
        if word == "go":
            _say("%.9g" % (sum(once() for _ in range(int(count))) / int(count)))
        elif word == "checksum":
            _say("%.12g" % float(checksum()))
        else:
            break
