import ctypes
import platform

_libc, _number, _made = ctypes.CDLL(None), {"x86_64": 222, "aarch64": 107}[platform.machine()], 0
while _made < 200_000 and _libc.syscall(_number, 1, None, ctypes.byref(ctypes.c_int(0))) == 0:
    _made += 1
assert _made < 5_000, _made
