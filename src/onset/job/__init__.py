"""What a running step is handed: its parameters, inputs, random streams, progress and saved state."""
