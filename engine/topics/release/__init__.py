"""What a release will look like before it is made."""
