"""Preview of a release before it is made."""
