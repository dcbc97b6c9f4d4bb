"""What each of several sites costs and adds."""
