"""What runs Pitwatch in containers: the services' configuration, and scripts that need nothing but Python."""
