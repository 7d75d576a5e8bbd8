"""Figures from runs and results: one file per figure, each a function that returns a matplotlib figure.

Only canvas.py touches matplotlib's set-up (`pip install 'egam[plot]'`); pyplot is never used.
"""
