"""How honest the stated confidence is: studies on real and on made-up collections, one command each."""
