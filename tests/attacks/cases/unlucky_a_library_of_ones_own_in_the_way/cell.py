class KeyErrorOfMine(KeyError):
    pass


try:
    raise KeyErrorOfMine("emma")
except KeyError as KeyError_:
    print(KeyError_)
