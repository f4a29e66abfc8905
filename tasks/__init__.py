"""What each stage does: pure functions over Arrow tables, and the one mechanism that runs them."""
