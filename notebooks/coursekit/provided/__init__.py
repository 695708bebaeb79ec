"""What earlier labs taught, provided for later ones. A bundle of lab k holds only what came before k."""
