"""What is worked out once for a demo, by a training or a trained model, and kept in ``data/demos``."""
