"""From edge lists to graphs: numbering ids, sorting into rows, merging, generating."""
