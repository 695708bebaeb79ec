"""From one submission to one result: repair, run, test, diagnose."""
