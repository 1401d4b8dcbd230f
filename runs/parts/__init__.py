"""What a search is put together from: operators, policies, writers, workers and what prompts tell of them."""
