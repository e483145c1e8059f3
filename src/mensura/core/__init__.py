"""The base modules, which every other package may import and which import no other package.

In: values, tables and files of any kind. Out: checked values, and files that are written whole or not at all.
Read first: ``errors`` (the one error class), ``arrays`` and ``frames`` (types and tables), ``files`` and ``folders``
(writing), ``checksums`` (damage is noticed), ``results`` (the base of all results), ``cache`` (results kept between
runs), ``processes`` (the one process runner), ``exports`` (public names that load on first use).
"""
