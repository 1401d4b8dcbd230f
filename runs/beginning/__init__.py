"""Before a run's first program: what is refused, what is told and what is stored."""
