class Endless:
    def __del__(self):
        while True:
            pass


Endless()
del _
