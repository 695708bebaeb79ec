def transition_matrix(sentences, weights):
    exec(compile("1 / 0", f"<cell {sentences[0]} #1>", "exec"))
