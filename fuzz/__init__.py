"""A fuzzer of the command line: thousands of broken inputs in one process, and what must hold for each of them.

An input is a folder of small files, some of them mutated, and a command line whose options are drawn from the commands
themselves, so that a new command or option is covered as soon as it exists. Whatever the input is:

- the command ends in time, with a documented exit code and, where it failed, one line on standard error;
- no exception and no warning of Python escapes, and the memory it takes is bounded;
- nothing that it reads is changed, and a command that fails leaves nothing behind;
- what it prints as jsonl is JSON, without NaN; and the values of ``evaluate`` are those of a second, naive program.

Every input follows from the seed of the run and its own number. ``make fuzz`` runs 20,000 of them; one that fails is
kept in a folder and printed with the command that repeats it.
"""
