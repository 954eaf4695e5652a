"""decompose_taichi.py - ../ours/decompose.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
phase, count = bench.arguments("svd3", 65536)
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
            total += (U[i] @ V[i] * M[i]).sum()
        elif ti.static(phase == "sym_eig3"):
            total += S[i].dot(S[i])
        else:
            total += S[i].sum()
    return total / count


step = {"svd2": svd, "svd3": svd, "sym_eig3": sym_eig, "polar3": polar}[phase]
fill()
bench.run(step=step, checksum=check)
