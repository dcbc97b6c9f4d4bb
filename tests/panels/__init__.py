"""Settings on which bands and warnings are judged from both sides: ordinary ones and failures."""
