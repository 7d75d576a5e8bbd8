"""EGAM over HTTP: `egam serve`. Requests become `Instance`s, `egam.solve` solves them, a `Result` goes back.

    app.py       the routes                     batching.py    who waits, and who is solved together
    limits.py    what is too much               vroom*.py      VROOM's shape of requests and answers
    asked.py     what a body asks for           metrics.py, log.py, security.py, run.py
Nothing here solves anything, and nothing that a request says names a file. The page is in static/.
"""
