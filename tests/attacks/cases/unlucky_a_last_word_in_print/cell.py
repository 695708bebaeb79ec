import sys

print("All done.")
print("No warnings, either.", file=sys.stderr)
