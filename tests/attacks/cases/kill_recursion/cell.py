import sys

sys.setrecursionlimit(10**9)
deeper = lambda x: deeper([x])
deeper(0)
