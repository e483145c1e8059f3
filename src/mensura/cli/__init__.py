"""The command line: parse, call, print, and nothing else.

In: the words of a command. Out: a table on the terminal, files under ``--out``, or JSON.
Read first: ``main`` (the list of commands), ``inputs`` (options that several commands share), ``output`` and
``tables`` (printing), ``paths`` (checks of paths), and one file per command.
"""
