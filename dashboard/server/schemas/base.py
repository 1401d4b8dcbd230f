"""What every answer and request of the API has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """Why a request was refused."""

    detail: str
