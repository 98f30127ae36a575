"""
Verbs that fetch: the robots.txt of an origin, verdicts from it, and slots for a fleet of crawlers.

    fetching   the clients of one worker, the hosts they may fetch from, and how many wait
    questions  query strings and bodies → the crawler, its options, and a URL
    checks     GET and POST /v1/check: from memory in microseconds, else after a fetch
    streams    lists of URLs: NDJSON in and out
    pages      explain, guidance and robots of a URL
    slots      when a crawler may send its next request to an origin
    routes     the paths of these verbs

All crawlers share the robots.txt files of a worker, and workers share them through the store: each
file is fetched once, with the User-Agent of the service. An error never means "allowed": what
cannot be answered is a problem (`service.problems`).
"""
