"""Sound: reading it, describing it by numbers, and how far apart two descriptions are.

Needs the ``audio`` extra (soundfile and librosa); nothing else of earmark needs it.
"""
