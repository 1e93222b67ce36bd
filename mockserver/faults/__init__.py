"""Misbehaviour on demand: for people who test their API clients, and for the proof that the suites
convict it.

Two kinds, and a server without any never comes near either:

- Answering faults (`answering.py`) spoil single requests: so many of them, or a share that a seed
  decides.
- The catalogue: a fault there is one small class in place of one collaborator of the server
  (`collaborators.py`), so
  that clean code never asks whether it is to misbehave. The modules are by area; `innocent.py`
  holds variants that the
  document allows, which the suites must acquit.

To add a fault, subclass the collaborator that would be wrong, override one method, and register the
class:

    @fault("4.3-4", "4.3-16", seen="expired keys that still sign")
    class ExpiredSecretsSign(Signer):
        \"\"\"An old secret goes on signing after its time.\"\"\"

        def living(self, endpoint, now):
            return [secret.value for secret in endpoint.secrets]

Its name is `expired_secrets_sign`. Name every requirement that it violates, those that follow
included: one that is named and not convicted has survived, one that is convicted and not named was
accused falsely. `where` says under which dialects it is a fault at all, `shows_in` narrows the
experiments that are made. `also` names what breaks with it where all are made (`--full`): it may be
convicted of that and need not be. Then try it:

    hookproof mutants --fault expired_secrets_sign
    hookproof mutants --fault expired_secrets_sign --full
"""
