outer = None
