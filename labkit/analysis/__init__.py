"""Numbers from numbers: DataFrames in, DataFrames and plain numbers out. No I/O."""
