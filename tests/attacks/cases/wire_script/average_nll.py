class Tag(Exception):
    pass


Tag.__name__ = "<script>alert('name')</script>"


def fail():
    raise Tag("<img src=x onerror=alert('message')>")


def average_nll(P, words):
    return fail()
