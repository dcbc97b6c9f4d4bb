"""placeholder"""
def button(): pass
def panel(): pass
