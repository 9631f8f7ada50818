"""Calling a function until it works or patience ends."""

import functools
import time

from again.policy import Policy


class GaveUp(Exception):
    """No attempt worked. `attempts` were made; the last error is the cause."""

    def __init__(self, name, attempts, waited):
        super().__init__(f"{name} failed {attempts} times in {waited:.1f} seconds of waiting")
        self.attempts = attempts
        self.waited = waited


def call(function, policy, sleep=time.sleep):
    """The result of `function()`; repeated as the policy says.

    An error that is not worth repeating is raised as it is. Raises GaveUp from the last error.
    """
    backoff = policy.backoff()
    for attempt in range(1, policy.attempts + 1):
        try:
            return function()
        except Exception as error:
            if not policy.repeats(error):
                raise
            last = error
        if attempt + 1 >= policy.attempts:
            break
        wait = backoff.next()
        if policy.budget is not None and backoff.total > policy.budget:
            break
        sleep(wait)
    raise GaveUp(getattr(function, "__name__", "the call"), attempt, backoff.total) from last


def retry(policy=Policy(), sleep=time.sleep):
    """A decorator: `@retry(Policy(attempts=5))`."""

    def decorate(function):
        @functools.wraps(function)
        def patient(*args, **kwargs):
            @functools.wraps(function)
            def attempt():
                return function(*args, **kwargs)

            return call(attempt, policy, sleep)

        return patient

    return decorate
