"""What every topic and subscription looked like at an instant between two quota checks."""
