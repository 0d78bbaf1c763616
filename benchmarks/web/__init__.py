"""The web app under load: many assessors at once, over real sockets, sounds included."""
