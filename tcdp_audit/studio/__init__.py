"""`tcdp-audit studio`: a workbench in the browser, on this machine alone, that shows the risk of each decision.

server      the address, the processes around it, and the end: a signal, the button, half an hour without a request
guard       what every request must bring before anything is done for it, and the headers of every answer
pages       the routes: a screen for each GET, a decision for each POST
forms       what a page may send: known names, known ranges, and nothing else
choices     the files of a workbench, choices of its screens, and decisions in words
workbench   the session, the policy that is worked on, and the choices of screens; all figures come from the session
decisions   the file next to the table that keeps the decisions
work        long computations with progress that can be cancelled, and short ones of which only the newest counts
screens     what each screen shows, as plain data for its template
drawings    positions and lengths of the two pictures
release     the files of a release: their names, how they are written, and their signature
"""
