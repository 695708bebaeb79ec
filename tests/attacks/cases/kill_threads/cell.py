import threading
import time

for _ in range(1000):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
