"""State machines of Hypothesis whose rules run as tasks under the explorer."""
