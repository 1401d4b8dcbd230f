"""What the API answers and accepts, by view. The page's TypeScript types are generated from these models."""
