"""Design, runner, jobs and the catalogue of named experiments. The only room that knows all the others."""
