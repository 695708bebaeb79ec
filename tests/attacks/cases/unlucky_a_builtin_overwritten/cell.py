list = [1, 2]
sum = 3
str = "text"
len, max, min = 1, 2, 3
del sum, list, str, len, max, min
