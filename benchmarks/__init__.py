"""Side-by-side comparisons of earmark with its peers, each made in one run of one command."""
