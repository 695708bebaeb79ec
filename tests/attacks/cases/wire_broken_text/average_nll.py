def average_nll(P, words):
    return ["\ud800\udfff", b"\xff\xfe", "\x00"]
