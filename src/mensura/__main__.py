"""``python -m mensura`` runs the command line."""

from mensura.cli.main import main

main()
