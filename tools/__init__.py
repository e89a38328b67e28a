"""What a checkout needs before the job can run, and tools of its engineers: environment, Maven, compiled rules, a live broker."""

#: Packages of the code that runs, on this machine and on executors.
CODE = ("console", "demo", "driver", "jobs", "pipeline", "schemas", "tools")
