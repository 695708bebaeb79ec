for number in range(200_000):
    print(number)
