"""
Pull and merge requests: what a CI server says about a change, and one comment kept up to date.

`ci_environment` reads the variables of GitHub Actions and GitLab CI, `changed_files` reads the
change from git, and `comments` writes to the forge. Everything in a change is untrusted: names and
contents of files are values, and are never part of a command, a URL or an expression.
"""
