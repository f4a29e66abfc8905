# One image for the worker and for training. Build with --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cpu
# for a small image without CUDA; the default index gives the CUDA build.
FROM python:3.11-slim-bookworm

ARG TORCH_INDEX=https://pypi.org/simple
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
COPY --chown=wikisum:wikisum requirements.lock ./
RUN grep '^torch==' requirements.lock > torch.lock \
    && pip install --index-url "${TORCH_INDEX}" -r torch.lock \
    && pip install -r requirements.lock \
    && rm torch.lock

COPY --chown=wikisum:wikisum pyproject.toml README.md prefect.yaml ./
COPY --chown=wikisum:wikisum storage ./storage
COPY --chown=wikisum:wikisum models ./models
COPY --chown=wikisum:wikisum tasks ./tasks
COPY --chown=wikisum:wikisum flows ./flows
RUN pip install --no-deps --editable .

USER wikisum
VOLUME /data
CMD ["prefect", "worker", "start", "--pool", "wikisum", "--type", "process"]
