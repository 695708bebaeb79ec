import mmap

held = []
for _ in range(2000):
    held.append(mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ))
    for at in range(0, 1 << 30, 1 << 21):
        held[-1][at]
