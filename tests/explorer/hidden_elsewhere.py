"""What a function imports when it runs."""

last = 0


class Place:
    last = 0


place = Place()
