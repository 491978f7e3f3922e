"""TopicModel: text in, topics out."""
