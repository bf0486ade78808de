"""Run the released coding agents and compare what they send with the layouts that mirror them: `make peers`."""
