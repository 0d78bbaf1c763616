"""The web app: people listen and judge in a browser, and an organiser sees the verdict form.

:func:`~earmark.web.app.create_app` makes the app of one campaign. Its parts:

=================  =====================================================================================================
``context``        what all routes share: the campaign's folder as it is now, its media and its words
``security``       links and cookies
``limits``         how often somebody may ask
``responses``      the headers of every response, limits on size, one shape of errors
``shown``          what a browser may see of a question, and nothing else
``assessor``       the page on which people judge, and its API
``media_files``    sounds and pictures by tickets that name nothing
``organiser``      the dashboard, and what an organiser does
``recruiting``     people who come from Prolific or Mechanical Turk
``catalogue``      all words of the pages, in English and Spanish
``languages``      in which language a page is
``metrics``        health, Prometheus, logs
``serving``        the server
=================  =====================================================================================================

The pages are templates of :mod:`earmark.pages` and ES modules in ``static/``; they need no other server.
"""
