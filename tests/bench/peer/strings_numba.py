"""strings_numba.py - ../ours/strings.lua as a user of numba writes it."""
import numpy as np

import bench

nb = bench.numba()
letters, words, length = bench.arguments(262144, 32, 8)
text = (np.float32(4) * bench.noises(letters)).astype(np.uint8)
word = np.stack([text[w * 7919 % (letters - length):][:length] for w in range(words)])
count = np.zeros(words, np.int32)


@nb.njit(parallel=True)
def search(text, word, count):
    for w in nb.prange(words):
        c = 0
        for i in range(letters - length + 1):
            k = 0
            while k < length and text[i + k] == word[w, k]:
                k += 1
            if k == length:
                c += 1
        count[w] = c


bench.run(step=lambda: search(text, word, count), checksum=lambda: int(count.sum()))
