"""What a course is: its labs as written, its policy, what is built from them and who may see what."""
