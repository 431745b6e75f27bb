"""The recipes of docs/from-albumentations.md, by the library itself."""
import peers_recipes


def add(group):
    peers_recipes.add(group, "from-albumentations.md", peers_recipes.albumentations_peer)
