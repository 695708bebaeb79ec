import linecache


def transition_matrix(sentences, weights):
    text = f"'{max(sentences[0].split())}'"
    name = f"<cell transition_matrix #{len(linecache.cache)}>"
    linecache.cache[name] = (1, None, [f"{text}\n"], name)
    exec(compile(f"raise KeyError({text})", name, "exec"))
