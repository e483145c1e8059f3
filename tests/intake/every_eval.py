"""Small records of Every Eval Ever, and files that hold them."""

import json
from pathlib import Path


def record(model: str = "openai/gpt-4.1", score: object = 0.64, **details: object) -> dict:
    """Return a small record of Every Eval Ever."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"demo/{model}/1750000000",
        "retrieved_timestamp": "1750000000",
        "source_metadata": {
            "source_name": "A board – of 2026",
            "source_type": "documentation",
            "source_organization_name": "A lab",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "x", "version": "1"},
        "model_info": {"name": "GPT-4.1", "id": model, "developer": "openai", "additional_details": details},
        "evaluation_results": [
            {
                "evaluation_name": "GPQA Diamond",
                "source_data": {"dataset_name": "gpqa", "source_type": "other"},
                "metric_config": {
                    "metric_id": "accuracy",
                    "lower_is_better": False,
                    "score_type": "continuous",
                    "min_score": 0,
                    "max_score": 1,
                },
                "score_details": {
                    "score": score,
                    "uncertainty": {
                        "num_samples": 198,
                        "confidence_interval": {"lower": 0.574, "upper": 0.706, "confidence_level": 0.95},
                    },
                },
            }
        ],
    }


def written(folder: Path, document: object, name: str = "record.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path
