"""Dashboard and labelling: pages over a store and run folders, which work without script."""
