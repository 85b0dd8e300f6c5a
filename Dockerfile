# The image of every Pitwatch process; docker-compose.yml says which command each of them runs.

FROM python:3.11.14-slim-bookworm AS build

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PATH=/opt/pitwatch/bin:$PATH

WORKDIR /build
RUN python -m venv /opt/pitwatch

# What is installed changes seldom, and then here alone; a change of the program itself takes seconds.
COPY constraints.txt pyproject.toml deploy/requirements.py ./
RUN python requirements.py > requirements.txt \
    && pip install --only-binary :all: --constraint constraints.txt --requirement requirements.txt

COPY LICENSE ./
COPY schemas schemas
COPY processors processors
COPY producers producers
COPY dashboards dashboards
COPY pitwatch pitwatch
COPY benchmarks benchmarks
RUN pip install --no-deps .


FROM python:3.11.14-slim-bookworm

RUN groupadd --gid 10001 pitwatch \
    && useradd --uid 10001 --gid pitwatch --no-log-init --home-dir /var/lib/pitwatch --shell /usr/sbin/nologin pitwatch \
    && install --directory --owner pitwatch --group pitwatch /var/lib/pitwatch

COPY --from=build /opt/pitwatch /opt/pitwatch
COPY deploy/healthcheck.py /opt/pitwatch/healthcheck.py

ENV PATH=/opt/pitwatch/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

WORKDIR /var/lib/pitwatch
USER 10001:10001

HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["python", "/opt/pitwatch/healthcheck.py", "http://127.0.0.1:8601/healthz"]

ENTRYPOINT ["pitwatch"]
CMD ["--help"]
