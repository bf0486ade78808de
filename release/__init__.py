"""Checks a release before it is made: `make release-check`. RELEASING.md describes the whole release."""
