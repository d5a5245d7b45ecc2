"""Long work that resumes: where jobs run, what they have done so far, and the folders and files they own."""
