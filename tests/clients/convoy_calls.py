"""Calls convoy-python as standard input says, and prints what each call returned, as JSON.

{"config": {"uri": ..., "api_key": ...},
 "calls": [["endpoint", "create", [{}, {...}]],
           ["webhook", "verify_signature", [BODY, SIGNATURE], {"secret": ...}]]}
"""

import json
import sys

from convoy.convoy import Convoy
from convoy.utils.webhook import Webhook

given = json.load(sys.stdin)
client = Convoy(given["config"])
results = []
for resource, method, arguments, *settings in given["calls"]:
    called = Webhook(**settings[0]) if settings else getattr(client, resource)
    results.append(getattr(called, method)(*arguments))
sys.stdout.write(json.dumps(results))
