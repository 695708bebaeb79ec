import ctypes
import platform

_libc, _number, _made = ctypes.CDLL(None), {"x86_64": 206, "aarch64": 0}[platform.machine()], 0
while _made < 10_000 and _libc.syscall(_number, 128, ctypes.byref(ctypes.c_ulong(0))) == 0:
    _made += 1
assert not _made, _made
