"""The tables and figures of the five papers, by one command: ``make papers``.

One module per paper lists its experiments: what is run, the values that the paper prints, and why
ours differ where they do. :mod:`.experiments` says what an experiment is and runs it;
``python -m benchmarks.papers`` runs them all and writes pages, records and pictures.
"""
