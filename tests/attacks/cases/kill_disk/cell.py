with open("/tmp/large", "wb") as file:
    while True:
        file.write(b"0" * (1 << 20))
