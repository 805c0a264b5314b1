"""On which node? Gangs whole or not at all, pods on their own by filter and score; session.py has the steps."""
