"""Can this fit be trusted?  How many states, which are well determined, does the model fit."""
