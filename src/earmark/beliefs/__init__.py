"""What is believed about every item's gain, and what follows from it for the scores of systems."""
