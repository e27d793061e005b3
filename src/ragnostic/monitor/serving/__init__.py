"""Everything of one machine in one program: processes kept alive, a schedule, and how it is."""
