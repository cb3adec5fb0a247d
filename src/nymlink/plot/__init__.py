"""Draw pictures of training data, and of names and mentions before and after training."""
