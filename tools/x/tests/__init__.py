"""Tests of ./x itself: `python3 -m unittest discover -s tools/x/tests`, a part of `./x test`."""
