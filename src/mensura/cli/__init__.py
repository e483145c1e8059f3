"""The command line: parse, call, print, and nothing else.

In: the words of a command. Out: a table on the terminal, files under ``--out``, or JSON.
Read first: ``main`` (the list of commands), ``options`` and ``settings`` (options that several commands share),
``inputs`` (evidence and files of users), ``output`` and ``tables`` (printing), and one file per group of commands.
"""
