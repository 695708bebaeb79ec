average_nll = 2.45
