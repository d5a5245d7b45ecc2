"""Training data: positions with policy and value targets, made by a teacher engine or read from games."""
