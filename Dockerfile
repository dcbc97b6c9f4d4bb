# Run with: docker run --rm --read-only --tmpfs /tmp --cap-drop ALL \
#     --security-opt no-new-privileges -v privacy-curves:/ledger -p 127.0.0.1:8501:8501 IMAGE
# With -e PRIVACY_CURVES_UPLOADS=on it takes files and publishes: a container cannot know who
# reaches it, and both are for the holder of the data alone.
# The volume keeps the ledger of releases: what was spent must outlive the container.

# A name can be given to other contents; a digest cannot. docs/security.md says where this one
# stands and how to look up a newer one: --build-arg BASE=python@sha256:... This is python:3.11-slim.
ARG BASE=python@sha256:90744cff8f32887f075c47d747a173ff333e9e98801667af93c357fa9f5e28ff
FROM ${BASE}

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENBLAS_NUM_THREADS=1 \
    OMP_NUM_THREADS=1 \
    MKL_NUM_THREADS=1 \
    HOME=/tmp \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_HEADLESS=true \
    STREAMLIT_SERVER_FILE_WATCHER_TYPE=none \
    PRIVACY_CURVES_LEDGER=/ledger/ledger.sqlite3

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
    --require-hashes --only-binary :all: -r requirements.txt
COPY LICENSE app.py ./
COPY .streamlit .streamlit
COPY engine engine
COPY reproductions reproductions
COPY pages pages
COPY data data
COPY docs docs

RUN mkdir /ledger && chown 10001:10001 /ledger
VOLUME /ledger
USER 10001:10001
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-c", \
    "import os, urllib.request as u; base = os.environ.get('STREAMLIT_SERVER_BASE_URL_PATH', '').strip('/'); \
    u.urlopen('/'.join(filter(None, ('http://127.0.0.1:8501', base, '_stcore/health'))), timeout=4)"]
CMD ["python", "-m", "streamlit", "run", "app.py"]

# Last, so that another revision leaves the layers above as they are.
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Privacy Curves" \
      org.opencontainers.image.description="What differential privacy costs when the data are curves" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
