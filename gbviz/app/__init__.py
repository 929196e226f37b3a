"""The desktop app: the only code that knows Qt."""
