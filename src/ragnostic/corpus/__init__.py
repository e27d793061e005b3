"""Documents, chunkers, chunk ids, and checks of them."""
