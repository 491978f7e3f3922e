"""The parts of `TopicModel`: weighing, mixtures, what is shown, what is saved."""
