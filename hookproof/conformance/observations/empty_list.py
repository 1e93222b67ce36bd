"""Why a list that holds nothing shows nothing, and what would help."""

from typing import Final

NOTHING_LISTED: Final = {
    "listPortalLinks": (
        "listPortalLinks shows no portal link, and no operation creates one: make some at the"
        " target, or give target.yaml a provision hook create_portal_link"
    ),
    "listSources": (
        "listSources shows no source, and no operation creates one: make some at the target, or"
        " give target.yaml a provision hook create_source"
    ),
}
