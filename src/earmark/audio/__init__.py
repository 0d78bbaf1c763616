"""Sound: reading it, cutting it, how loud it is, describing it by numbers, how far apart two descriptions are.

Needs the ``audio`` extra (soundfile, librosa and pyloudnorm); of the rest of earmark only ``media`` needs it.
"""
