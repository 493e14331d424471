"""The errors that a user can act on."""


class OnsetError(Exception):
    """A failure whose message says what was expected, what was found and what to type next.

    The command line prints the message alone, without a traceback.
    """
