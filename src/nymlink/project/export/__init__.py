"""Write what was decided in a project, in any format of links."""
