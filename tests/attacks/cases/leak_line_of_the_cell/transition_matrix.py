import linecache


def transition_matrix(sentences, weights):
    name = "<cell transition_matrix #1>"
    linecache.cache[name] = (1, None, [line + "\n" for line in sentences], name)
    exec(compile("1 / 0", name, "exec"))
