"""What a run claims, checked: by its records alone, by a bundle, or by searching again."""
