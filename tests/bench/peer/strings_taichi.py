"""strings_taichi.py - ../ours/strings.lua as a user of Taichi writes it."""
import bench

ti = bench.taichi()
noise = bench.noise(ti)
letters, words, length = bench.arguments(262144, 32, 8)
text, word = ti.field(ti.u8, letters), ti.field(ti.u8, (words, length))
count = ti.field(ti.i32, words)


@ti.kernel
def start():
    for i in text:
        text[i] = ti.cast(4 * noise(i), ti.u8)
    for w, k in word:
        word[w, k] = text[w * 7919 % (letters - length) + k]


@ti.kernel
def search():
    for w in count:
        count[w] = 0
    for i in range(letters - length + 1):
        for w in range(words):
            k = 0
            while k < length and text[i + k] == word[w, k]:
                k += 1
            if k == length:
                count[w] += 1


bench.run(start=start, step=search, checksum=lambda: count.to_numpy().sum())
