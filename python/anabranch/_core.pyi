"""The private native module of the package: what it offers is declared here."""
