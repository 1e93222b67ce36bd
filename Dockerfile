# Hookproof with all its commands, and the reference server by default:
#
#   docker build --tag hookproof .
#   docker run --rm --publish 127.0.0.1:5005:5005 --env HOOKPROOF_PROJECTS=p1=key-1 hookproof
#   docker run --rm hookproof check --profile quick
#
# A base has python3, 3.11 or later, with its module venv.
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN python3 -m venv /opt/hookproof
RUN /opt/hookproof/bin/pip install --quiet --no-cache-dir --disable-pip-version-check \
    --constraint constraints.txt '.[all]'

FROM ${BASE}
RUN useradd --uid 10001 --create-home --home-dir /data --shell /usr/sbin/nologin hookproof
RUN mkdir /ca && chown hookproof /ca
COPY --from=build /opt/hookproof /opt/hookproof
ENV PATH=/opt/hookproof/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER hookproof
WORKDIR /data
EXPOSE 5005
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python3", "-I", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:5006/health', timeout=3)"]
ENTRYPOINT ["hookproof"]
CMD ["serve", "--host", "0.0.0.0", "--control", "127.0.0.1:5006"]
