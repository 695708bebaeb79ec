"""Lab 03, from votes to attention: its six questions with points, a file each."""
