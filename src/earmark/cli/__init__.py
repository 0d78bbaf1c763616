"""The command line: parse, call, print. Whatever is worth computing is computed elsewhere."""
