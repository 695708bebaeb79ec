"""Lab 02, Dirichlet priors: named wrong answers with their hints, and correct answers in other styles."""
