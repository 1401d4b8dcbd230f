"""Ask and tell: proposals that somebody outside answers, and the process that keeps them."""
