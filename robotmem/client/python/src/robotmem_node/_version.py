"""The version of the package, which is that of the program robotmem in its wheels."""

VERSION = "0.0.0"
