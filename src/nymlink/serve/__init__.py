"""The door over HTTP: routes parse, call one function, answer; see :mod:`nymlink.serve.app`."""
