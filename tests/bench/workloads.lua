--- The workloads, one row each: its name, what it is, its arguments on all sides, those of the
--- smoke run, the checksum of that after one step, and options, which `of` may give to all rows of
--- a program: passes of so many `steps` (1), each from the first state; a relative `tolerance` of
--- checksums (1e-5); `measures`: a figure of its own in place of milliseconds; `whole`: one of the
--- whole programs.
local rows = {}

-- A new name lasts for the rows that follow, until the next.
local program, defaults
local function of(name, options) program, defaults = name, options or {} end
local function row(name, what, args, small, sum, options)
  local one = { name = name, program = program, what = what, args = args, small = small, sum = sum }
  for _, table in ipairs { defaults, options or {} } do
    for key, value in pairs(table) do one[key] = value end
  end
  rows[#rows + 1] = one
end

of "stream"
row("scale", "W1 scale, 16 Mi f32", "scale", "scale 1000", 0.12349611)
row("copy", "W1 copy", "copy", "copy 1000", 0.493984442)
row("triad", "W1 triad", "triad", "triad 1000", 0.629511668)
row("axpy", "W1 axpy, in place", "axpy", "axpy 1000", 0.629511668)
row("sum", "W1 sum", "sum", "sum 1000", 0.493984436)
of "stencil"
row("square", "W2 5-point step, 4096^2", "2 4096", "2 64", 0.460983439)
row("cube", "W2 7-point step, 256^3", "3 256", "3 16", 0.331443988)
of("lap7", { steps = 4 })
row("lap7", "W3 7-point step, sparse 512^3", "64", "8", 124.877697)
of "activate"
row("touch-mask", "W4 touches, new leaves with bits", "touch bitmasked",
  "touch bitmasked 8 4000", 1032677)
row("touch", "W4 touches, new leaves", "touch dense", "touch dense 8 4000", 1032677)
row("revisit-mask", "W4 revisit, bits", "revisit bitmasked", "revisit bitmasked 8 4000", 1032677)
row("revisit", "W4 revisit", "revisit dense", "revisit dense 8 4000", 1032677)
row("cycle-mask", "W5 drop, collect, touch, bits", "cycle bitmasked",
  "cycle bitmasked 8 4000", 1032677)
row("cycle", "W5 drop, collect, touch", "cycle dense", "cycle dense 8 4000", 1032677)
row("drop", "W5 drop and collect: the pause", "drop dense", "drop dense 8 4000", 0)
of "lists"
row("append", "W6 append to 4096 lists", "append", "append 16 1000", 499500)
row("iterate", "W6 sum over 4096 lists", "iterate", "iterate 16 1000", 499500)
row("append-few", "W6 append to 65536 lists", "append 65536", "append 64 1000", 499500)
of "sph"
row("sph-build", "SPH lists of 131,072 by cells", "build", "build 1024 16", 1.08785248)
row("sph-density", "SPH density over those lists", "density", "density 1024 16", 1.08785248)
of "visit"
row("full", "W7 += 1, full leaves", "full", "full 16", 262144)
row("few", "W7 += 1, 16 of 512 cells", "few", "few 16", 8192)
row("one", "W7 += 1, one cell a leaf", "one", "one 16", 512)
row("small", "W7 += 1, 128 small leaves, 64 launches", "small 32", "small 16", 1024, { steps = 64 })
of "lookup"
row("lookup", "reads anywhere, pointer", "pointer", "pointer 1000 10000", 0.494631679)
row("lookup-hash", "reads anywhere, hash", "hash", "hash 1000 10000", 0.494631679)
of("mpm2d", { steps = 50 })
row("mpm", "W8 MLS-MPM, 8192, dense", "8192 128", "512 32", 0.600972553)
row("mpm-sparse", "W8 MLS-MPM, 8192, sparse", "8192 128 8", "512 32 8", 0.600972553)
row("mpm-large", "W8 MLS-MPM, 102400, dense", "102400 512", "1024 64", 0.598591089, { steps = 10 })
row("mpm-large-sparse", "W8 MLS-MPM, 102400, sparse", "102400 512 8", "1024 64 8", 0.598591089,
  { steps = 10 })
of("mpm3d", { steps = 5, tolerance = 1e-4 })
row("mpm3d", "W9 3-D MLS-MPM, 131072, sparse", "131072 128", "4096 64", 0.662118918)
of("poisson", { steps = 4, tolerance = 1e-3 })
row("poisson", "W11 MGPCG iteration, sparse ball", "256 4", "64 2", 102083.769)
of("lbm", { steps = 4 })
row("lbm-soa", "W12 D2Q9, 1024^2, soa", "soa 1024", "soa 32", 1.28566579)
row("lbm-aos", "W12 D2Q9, 1024^2, aos", "aos 1024", "aos 32", 1.28566579)
of("lbm3d", { steps = 4 })
row("lbm3d", "D3Q19, 128^3", "128", "12", 0.52565865028)
of("life", { steps = 16 })
row("life", "W14 life on sparse blocks, 4096^2", "256", "16", 2897)
of "histogram"
row("bins-256", "W14 histogram, 256 bins", "256", "256 1000", 3936)
row("bins-1Mi", "W14 histogram, 1 Mi bins", "1048576", "4096 1000", 3962)
of("counted", { steps = 10 })
row("counted-field", "neighbours in a field, 1 Mi f32", "field", "field 1000", 0.245403915)
row("counted-zeros", "the same in rg.zeros", "zeros", "zeros 1000", 0.245403915)
row("counted-list", "the same in a kernel's list", "list", "list 1000", 0.245403915)
of("grad_heat", { tolerance = 1e-3 })
row("heat-forward", "G1 heat, 512^2, 50 steps", "forward", "forward 32 4", 0.195399299264)
row("heat-gradient", "G1 the same and its gradient", "both", "both 32 4", 1.26353547048)
of("grad_mpm", { tolerance = 1e-3 })
row("diffmpm-forward", "G2 MLS-MPM, 4096, 200 steps", "forward", "forward 256 64 4", 0.351656198502)
row("diffmpm-gradient", "G2 the same and its gradient", "both", "both 256 64 4", 0.00400000070599)
of("grad_springs", { tolerance = 1e-3 })
row("springs-forward", "G3 1,406 springs, 300 steps", "forward", "forward 6 4 10", -0.199882775545)
row("springs-gradient", "G3 the same and its gradient", "both", "both 6 4 10", 0.0330814854928)
of("grad_smoke", { tolerance = 1e-3 })
row("smoke-forward", "G4 smoke, 128^2, 20 steps", "forward", "forward 16 2", 0.260803163052)
row("smoke-gradient", "G4 the same and its gradient", "both", "both 16 2", 0.0985907733714)
of "launch"
row("launch", "M1 empty kernel, us", "empty", "empty", 0)
row("launch-store", "M1 one store, us", "store", "store", 1)
row("launch-one", "M1 one number, us", "one", "one", 1)
row("launch-sixteen", "M1 sixteen numbers, us", "sixteen", "sixteen", 16)
row("launch-small", "M1 parallel, 16 iterations, us", "small", "small", 1)
row("launch-wide", "M1 parallel, 64 Ki stores, us", "wide", "wide", 1)
of "start"
row("hello-cold", "M2 one-line kernel, cold", "hello cold", "hello cold", 1)
row("hello-warm", "M2 one-line kernel, warm", "hello warm", "hello warm", 1)
row("fractal-cold", "M2 README's kernel, cold", "fractal cold", "fractal cold", 1)
row("mpm2d-cold", "M2 mpm2d, cold", "mpm2d cold", "mpm2d cold", 1)
row("mpm2d-warm", "M2 mpm2d, warm", "mpm2d warm", "mpm2d warm", 1)
of("bytes", { measures = true })
row("bytes-full", "M3 bytes per cell, full leaves", "full", "full 16", 1)
row("bytes-few", "M3 bytes per cell, 16 of 512", "few", "few 16", 1)
row("bytes-wide", "M3 bytes per cell, 1000 leaves, huge root", "wide 512", "wide 64", 1)
row("bytes-empty", "M3 bytes of an empty tree", "empty 64", "empty 16", 1)
of("decompose", { tolerance = 1e-4 })
row("svd2", "svd of 65536 2 x 2", "svd2", "svd2 64", 1.34609437)
row("svd3", "svd of 65536 3 x 3", "svd3", "svd3 64", 2.49681898)
row("sym_eig3", "sym_eig of 65536 3 x 3", "sym_eig3", "sym_eig3 64", 6.53812995)
row("polar3", "polar of 65536 3 x 3", "polar3", "polar3 64", 2.99199506)
of("draws", { tolerance = 1e-2 })
row("draws", "4 Mi uniform f32", "fill", "fill 10000", 0.5082)
row("draws-state", "the same; C: xoshiro128+", "state", "state 10000", 0.5082)
row("draws-loop", "16 uniform f32 an iteration; C: xoshiro128+", "loop 262144", "loop 10000",
  0.4933)
of("cloth", { whole = true, steps = 10 })
row("cloth", "cloth of springs, 256^2", "256", "32", 0.326752947)
of("marching", { whole = true, tolerance = 1e-4 })
row("marching", "marching tetrahedra, 96^3", "96", "16", 28738.6092)
of("agents", { whole = true, steps = 5, tolerance = 1e-4 })
row("agents", "256 Ki agents with trails, 1024^2", "262144 1024", "1000 64", 0.950000006)
of("flip", { whole = true, steps = 2, tolerance = 1e-3 })
row("flip", "FLIP, 256^2", "256", "32", 0.483738446)
of("adaptive", { whole = true, steps = 30, tolerance = 1e-3 })
row("adaptive", "adaptive refinement, 512^2 x 8^2", "512", "64", 18.618403)
of("eikonal", { whole = true })
row("eikonal", "eikonal sweeps, 512^2", "512", "64", 0.455748546)
of("raster", { whole = true, steps = 4, tolerance = 1e-3 })
row("raster", "rasterizer, 65536 triangles, 512^2", "512 256 128", "64 32 16", 3254.44652)
of("nbody", { whole = true })
row("nbody", "n-body, 8192, fast_math", "8192", "256", 0.42456023)
row("nbody-exact", "n-body, 8192", "8192 exact", "256 exact", 0.42456023, { whole = false })
of("phase", { whole = true, steps = 20, tolerance = 1e-4 })
row("phase", "phase field, 512^2", "512", "64", 305.000549)
of("gray_scott", { whole = true, steps = 20 })
row("gray_scott", "Gray-Scott, periodic 1024^2", "1024", "64", 1.00938942)
of("ising", { whole = true, steps = 10, tolerance = 1e-2 })
row("ising", "Ising model, 1024^2", "1024", "64", -1.57226562)
of("pagerank", { whole = true, steps = 5, tolerance = 1e-4 })
row("pagerank", "PageRank of 262,144 pages", "262144", "1000", 2.61269721)
of("bfs", { whole = true })
row("bfs", "breadth-first search, 262,144 vertices", "262144", "1000", 4.197)
of("kmeans", { whole = true, steps = 5, tolerance = 1e-3 })
row("kmeans", "64 means of 262,144 colours", "262144 64", "1000 8", 36.4780991)
of("bilateral", { whole = true, tolerance = 1e-4 })
row("bilateral", "bilateral filter, 512^2", "512 5", "32 3", 0.281359847)
of("colours", { whole = true, tolerance = 1e-3 })
row("colours", "coloured constraints, 128^2 points", "128", "16", 10.9222819)
of("shallow", { whole = true, steps = 20, tolerance = 1e-4 })
row("shallow", "shallow water, 768^2", "768", "32", 1.35498834)
of("edit", { whole = true })
row("edit", "edit distances of 4096 pairs", "4096 96", "64 16", 9.6875)
of("redistance", { whole = true })
row("redistance", "redistancing by sweeps, 96^3", "96", "16", 0.239701032)
of("contours", { whole = true, tolerance = 1e-4 })
row("contours", "marching squares, 512^2, 8 levels", "512 8", "32 4", 779.502821)
of("rays", { whole = true, tolerance = 1e-3 })
row("rays", "rays in a tree of 32,768 balls, 320^2", "320 15", "24 6", 0.560256971)
of("grains", { whole = true, steps = 10, tolerance = 1e-3 })
row("grains", "32,768 grains in cells", "32768 256", "300 32", 0.711025923)
of("voxels", { whole = true, tolerance = 1e-3 })
row("voxels", "rays in sparse voxels, 320^2", "320 16", "32 4", 0.309890327)

return rows
