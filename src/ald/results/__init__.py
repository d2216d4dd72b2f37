"""What an audit found, as plain values: candidates, findings, details, and the JSON document."""
