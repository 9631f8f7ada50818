"""What the Trajectory page says: an agent's steps as a conversation, with the tokens of each message."""
