"""The service: its verbs, the application, the page in a browser, and the server process."""
