"""Faults on demand: for users who test their API clients, and for the proof that the suites find
them. A server without faults runs none of this code.

- Responder faults (`answering.py`) affect single requests: a given number, or a seeded share.
- The catalogue: each fault is one small class that replaces one collaborator of the server
  (`collaborators.py`), so that clean code never asks whether it should misbehave. There is a module
  for each area; `conforming_variants.py` holds variants that the document allows and that the
  suites must pass.

- Generated faults: what `operators` make of the places of the contract.

To add a fault, subclass the collaborator that should be wrong, override one method, and register
the class:

    @fault("expired_secret_unused expiry_meant", seen="expired keys that still sign")
    class ExpiredSecretsSign(Signer):
        \"\"\"An old secret keeps signing after it has expired.\"\"\"

        def valid_secrets(self, endpoint, now):
            return [secret.value for secret in endpoint.secrets]

Its name is `expired_secrets_sign`. Name every law that it breaks (`about` in
`spec/requirements.yaml`), as far as it does: `typed@getEndpoint` for one operation,
`echoed@createEndpoint.name` for one field. Name those that follow as well: the fault survives if a
requirement of a law is not detected, and a detection of any other is a false positive. `where` says
under which dialects it is a fault, `shows_in` limits the experiments that run; `--full` runs all of
them. Then try it and record its kills:

    hookproof mutants --fault expired_secrets_sign --record
    hookproof mutants --fault expired_secrets_sign --full

A fault that gets another name is entered in `renamed.py`.
"""
