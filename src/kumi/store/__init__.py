"""Revisions and bytes, without kinds: base says what a store is; memory and sqlite are two; ledger and watch are what they
share, disk is the file."""
