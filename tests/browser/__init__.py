"""A package, so that a fixture can last for the tests of this folder."""
