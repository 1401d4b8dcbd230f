"""Reading the tables that people bring, in any usual form, to the last digit."""
