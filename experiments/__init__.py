"""The paper's experiments on the public interface of anchorless: results as data first, tables and plots from them."""
