"""Other people's file layouts."""
