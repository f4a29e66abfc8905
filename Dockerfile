# One image for the worker and for training. Packages come from the index that pip is configured for: its own, or the
# one of --build-arg PIP_INDEX_URL=... . Where another index holds the build of torch that is wanted (a small one
# without CUDA, say), name it with --build-arg TORCH_INDEX=... ; torch alone is taken from there.
# The tag always names the newest build of the base image, with its security updates. To build on the same one each time,
# give its digest: --build-arg BASE=python:3.11-slim-bookworm@sha256:... . This file names no digest, because we never
# pulled that image.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}

ARG PIP_INDEX_URL
ARG TORCH_INDEX
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PREFECT_SERVER_ANALYTICS_ENABLED=false

RUN useradd --create-home --uid 1000 wikisum \
    && mkdir /app /data \
    && chown wikisum:wikisum /app /data
WORKDIR /app

# The locked packages first: this layer stays in the cache while only our code changes.
COPY --chown=wikisum:wikisum requirements.lock requirements-torch.lock ./
RUN pip install --no-deps --require-hashes -r requirements.lock \
    && pip install ${TORCH_INDEX:+--index-url "${TORCH_INDEX}"} -r requirements-torch.lock

COPY --chown=wikisum:wikisum pyproject.toml README.md wikisum.py ./
COPY --chown=wikisum:wikisum storage ./storage
COPY --chown=wikisum:wikisum models ./models
COPY --chown=wikisum:wikisum tasks ./tasks
COPY --chown=wikisum:wikisum flows ./flows
RUN pip install --no-deps --editable .

USER wikisum
VOLUME /data
CMD ["prefect", "worker", "start", "--pool", "wikisum", "--type", "process"]
