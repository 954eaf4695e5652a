"""decompose.py - the decompositions of ../decompose.lua as a Taichi user writes them.
usage: python decompose.py svd2|svd3|sym_eig3|polar3 [matrices] [repetitions]. One JSON line, as the reference prints."""
import sys
import time

import taichi as ti

from report import init, report

phase = sys.argv[1] if len(sys.argv) > 1 else "svd3"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 65536
reps = int(sys.argv[3]) if len(sys.argv) > 3 else 9
threads = init()
n = 2 if "2" in phase else 3
M = ti.Matrix.field(n, n, ti.f32, count)
U = ti.Matrix.field(n, n, ti.f32, count)
V = ti.Matrix.field(n, n, ti.f32, count)
S = ti.Vector.field(n, ti.f32, count)


@ti.kernel
def fill():
    for i in range(count):
        for r, c in ti.static(ti.ndrange(n, n)):
            h = ti.u64(i * 16 + r * 4 + c) * ti.u64(2654435761)
            M[i][r, c] = ti.cast((h >> 8) & 0xFFFF, ti.f32) / 32768 - 1


@ti.kernel
def svd():
    for i in range(count):
        u, s, v = ti.svd(M[i])
        U[i] = u
        V[i] = v
        for k in ti.static(range(n)):
            S[i][k] = ti.abs(s[k, k])


@ti.kernel
def sym_eig():
    for i in range(count):
        w, v = ti.sym_eig(M[i] + M[i].transpose())
        S[i] = w
        V[i] = v


@ti.kernel
def polar():
    for i in range(count):
        r, p = ti.polar_decompose(M[i])
        U[i] = r
        V[i] = p


@ti.kernel
def check() -> ti.f64:
    total = ti.cast(0, ti.f64)
    for i in range(count):
        if ti.static(phase == "polar3"):
            total += V[i].trace()
        elif ti.static(phase == "sym_eig3"):
            total += S[i].dot(S[i])
        else:
            total += S[i].sum()
    return total / count


step = {"svd2": svd, "svd3": svd, "sym_eig3": sym_eig, "polar3": polar}[phase]
fill()
step()
seconds = []
for _ in range(reps):
    ti.sync()
    begin = time.perf_counter()
    step()
    ti.sync()
    seconds.append(time.perf_counter() - begin)
report("decompose", threads, count, seconds, count * 1e-6, check())
