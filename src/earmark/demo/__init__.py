"""The demonstration: made-up music, real systems that listen to it, and a campaign that finds out which is best."""
