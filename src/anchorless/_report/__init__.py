"""The HTML report and plots. They take plain records, never a model."""
