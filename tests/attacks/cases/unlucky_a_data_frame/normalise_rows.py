import pandas as pd


def normalise_rows(N):
    frame = pd.DataFrame(N)
    return frame.div(frame.sum(axis=1), axis=0).fillna(0)
