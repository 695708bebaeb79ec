hoard = np.ones((100_000, 125_000))
