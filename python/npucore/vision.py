"""Vision models: what they want, and what their outputs mean.

    card = npucore.vision.ModelCard.read(model)
    decoder = npucore.vision.Decoder(card, compiled)
    answer = decoder(request.infer(frame), (width, height))
    answer.xyxy, answer.confidence, answer.class_name
"""
from ._core import Answer, Counter, Decoder, ModelCard, Tracker

__all__ = ["Answer", "Counter", "Decoder", "ModelCard", "Tracker"]
