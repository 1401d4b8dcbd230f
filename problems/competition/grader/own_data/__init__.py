"""The user's own tables: which rows are hidden, what is predicted, and in which form a submission is written."""
