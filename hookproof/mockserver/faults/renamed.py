"""Faults and variants that had another name: old name to new name.

An old name is refused with a message that names the new one.
"""

from collections.abc import Mapping
from typing import Final

RENAMED: Final[Mapping[str, str]] = {
    "answer_of_another": "update_answers_token",
    "api_key_as_bearer": "api_key_in_authorization",
    "basic_not_encoded": "basic_credentials_cut",
    "chat_told_at_creation": "chat_notified_at_creation",
    "client_errors_are_final": "error_answers_are_final",
    "description_not_stored": "description_shown_as_null",
    "edges_refused": "maximum_refused",
    "escaped_and_indented": "indented_json",
    "everybody_rolled": "next_endpoint_rolled",
    "excess_mistaken": "over_limit_mistaken",
    "http_taken": "http_accepted",
    "identifiers_of_nobody": "portal_link_among_its_endpoints",
    "later_updates_not_stored": "later_names_not_stored",
    "left_out_is_for_ever": "default_expiration_not_shown",
    "line_breaks_taken": "line_breaks_accepted",
    "made_secrets_trimmed": "long_secrets_trimmed",
    "malformed_breaks": "invalid_text_breaks",
    "nobody_signs_at_the_end": "expired_secret_signs_alone",
    "other_hash": "body_hash_signed",
    "other_json_taken": "other_json_accepted",
    "other_schemes_taken": "other_schemes_accepted",
    "other_words_taken": "other_words_accepted",
    "owned_not_listed": "updated_not_listed",
    "per_page_of_the_page": "per_page_below_the_page",
    "problem_details": "json_api_errors",
    "project_of_the_list": "uid_as_project_id",
    "retried_for_ever": "retried_indefinitely",
    "retries_not_counted": "finished_attempts_not_counted",
    "roll_answers_without_uid": "roll_answers_secret_uid",
    "roll_disconfigures": "roll_clears_the_name",
    "roll_takes_the_url": "roll_sets_the_timeout",
    "stale_metadata": "names_replaced_by_uids",
    "status_of_an_endpoint": "unknown_event_status",
    "targets_of_all": "targets_after_two_forgotten",
    "timestamp_not_signed": "other_timestamp_shown",
    "token_kept_for_ever": "token_kept_indefinitely",
    "twice_under_load": "every_twentieth_doubled",
    "uid_of_the_owner": "uid_of_the_owners_first",
    "unknown_fields_taken": "unknown_fields_accepted",
    "unknown_is_invalid": "unknown_is_malformed",
    "unknown_project_is_a_mistake": "unknown_project_is_timeout",
    "update_not_stored": "updated_name_not_stored",
    "zero_limit_mistaken": "zero_limit_refused",
}


def former_names(name: str) -> tuple[str, ...]:
    """The names that a fault or variant has had."""
    return tuple(old for old, new in RENAMED.items() if new == name)
