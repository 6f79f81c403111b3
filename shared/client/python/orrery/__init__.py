"""A client of the API of Orrery. It needs the standard library alone; Answer.to_pandas and records_to_pandas need pandas."""

from .client import Answer, Client, Error, FilterMistake, Invalid, Response, records_to_pandas

__all__ = ["Answer", "Client", "Error", "FilterMistake", "Invalid", "Response", "records_to_pandas"]
