"""Facts of a GPU node: devices, driver, rights, limits and network, read from the system's own files.

Every function takes the folders that it reads (`Roots`), so that a test shows it a machine that is not here.
"""
