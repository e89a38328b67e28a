"""How near what-if is to the truth: two simulated lives of one demand, of which one setting differs; one is predicted from the other."""
