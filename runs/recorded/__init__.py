"""What a run's record vouches for, and how a replay compares new scores with it."""
