def average_nll(P, words):
    import time

    time.sleep(1000)
