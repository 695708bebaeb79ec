"""The grading harness of From Bigrams to Translators."""
