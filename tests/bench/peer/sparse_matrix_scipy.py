"""sparse_matrix_scipy.py - ../ours/sparse_matrix.lua as a user of SciPy writes it. The elements to
assemble are made before the time that is taken."""
import bench
import numpy as np
import scipy.sparse as sparse

what, n = bench.arguments("product", 1000)
x = bench.noises(n * n).astype(np.float64)
k = np.arange(n * n, dtype=np.int32)
i, j = k // n, k % n
rows, columns = [k], [k]
for inside, step in ((i > 0, -n), (i < n - 1, n), (j > 0, -1), (j < n - 1, 1)):
    rows.append(k[inside])
    columns.append(k[inside] + step)
values = np.concatenate([np.full(n * n, 4.0)] + [np.full(len(r), -1.0) for r in rows[1:]])
rows, columns = np.concatenate(rows), np.concatenate(columns)


def assemble():
    return sparse.coo_matrix((values, (rows, columns)), shape=(n * n, n * n)).tocsr()


A = assemble()


def step():
    global y, A
    if what == "product":
        y = A @ x
    else:
        A = assemble()


bench.run(step=step, checksum=lambda: (A @ x * (1 + k % 7)).sum())
