"""Packs the extension for VS Code: python3 pack.py OUT.vsix. A .vsix is a zip with two lists of what is inside."""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import quoteattr

FOLDER = pathlib.Path(__file__).parent
FILES = [
    "package.json",
    "extension.js",
    "client.js",
    "language-configuration.json",
    "syntaxes/galatea.tmLanguage.json",
]
TYPES = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="json" ContentType="application/json"/>'
    '<Default Extension="js" ContentType="application/javascript"/>'
    '<Default Extension="vsixmanifest" ContentType="text/xml"/>'
    "</Types>\n"
)


def manifest(package: dict) -> str:
    identity = " ".join(
        f"{name}={quoteattr(value)}"
        for name, value in [
            ("Language", "en-US"),
            ("Id", package["name"]),
            ("Version", package["version"]),
            ("Publisher", package["publisher"]),
        ]
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">'
        f"<Metadata><Identity {identity}/><DisplayName>{package['displayName']}</DisplayName>"
        f"<Description xml:space=\"preserve\">{package['description']}</Description>"
        "<Properties><Property Id=\"Microsoft.VisualStudio.Code.Engine\" "
        f"Value={quoteattr(package['engines']['vscode'])}/></Properties></Metadata>"
        '<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>'
        '<Dependencies/><Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" '
        'Path="extension/package.json" Addressable="true"/></Assets></PackageManifest>\n'
    )


def pack(out: pathlib.Path) -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension.vsixmanifest", manifest(package))
        for name in FILES:
            archive.write(FOLDER / name, "extension/" + name)


if __name__ == "__main__":
    pack(pathlib.Path(sys.argv[1]))
