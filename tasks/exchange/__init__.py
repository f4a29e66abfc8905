"""Read and write corpora in other projects' layouts."""
