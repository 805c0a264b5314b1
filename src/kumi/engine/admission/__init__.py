"""May it start? Queues, quota and flavors, by the rules that Kueue's users know; cycle.py has the steps."""
