"""What the streaming job tells of itself, and the way it takes: never waiting, never failing the job."""
