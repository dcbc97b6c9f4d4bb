"""The adaptive estimators: locations released stage by stage, their constants and their fits."""
