def letter_z(rest):
    return letter_z and rest[0](rest[1:])


def letter_e(rest):
    return letter_e and rest[0](rest[1:])


def letter_b(rest):
    return 1 / 0


def kernel_smooth(x, y, query, sigma):
    spelt = [letter_z, letter_e, letter_b]
    return spelt[0](spelt[1:])
