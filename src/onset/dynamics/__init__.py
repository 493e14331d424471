"""Integration of ordinary differential equations with named states."""
