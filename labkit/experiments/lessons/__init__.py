"""What the notebooks say and show that no page does: a module a lesson, and the two words that all of them share."""
