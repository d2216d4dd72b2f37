"""Pictures of reports, drawn as SVG: one module each, a function of the model and a width in pixels."""
