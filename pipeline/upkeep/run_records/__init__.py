"""What the streaming job records of itself, and the way it takes: never waiting, never failing the job."""
