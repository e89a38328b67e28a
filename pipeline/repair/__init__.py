"""Tables put right: dates computed anew, rejected lines that are events now."""
