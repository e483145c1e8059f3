"""Those who answer: a plain endpoint, inspect-ai's providers, a recording."""
