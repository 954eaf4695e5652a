import taichi as ti

ti.init(arch=ti.cpu)


@ti.kernel
def more(a: ti.f32) -> ti.f32:
    return a + 1


assert more(2) == 3
