"""The recipes of docs/from-torchvision.md, by the library itself."""
import peers_recipes


def add(group):
    peers_recipes.add(group, "from-torchvision.md", peers_recipes.torchvision_peer)
