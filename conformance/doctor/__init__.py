"""`hookproof doctor`: is everything there that judging a target takes?"""
