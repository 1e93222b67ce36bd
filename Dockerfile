# Hookproof with all its commands: the reference server (by default), the receiver, checks, load.
#
#   docker build --tag hookproof .
#   docker run --rm --publish 127.0.0.1:5005:5005 --env HOOKPROOF_PROJECTS=p1=key-1 hookproof
#   docker run --rm hookproof check --profile quick
#
# Any base has to have python3, 3.11 or later, with the module venv.
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN python3 -m venv /opt/hookproof
RUN /opt/hookproof/bin/pip install --quiet --no-cache-dir --disable-pip-version-check \
    --constraint constraints.txt '.[load]'

FROM ${BASE}
RUN useradd --system --uid 10001 --create-home --home-dir /work --shell /usr/sbin/nologin hookproof
RUN mkdir /ca && chown hookproof /ca
COPY --from=build /opt/hookproof /opt/hookproof
ENV PATH=/opt/hookproof/bin:/usr/local/bin:/usr/bin:/bin
ENV HOOKPROOF_CONTROL=127.0.0.1:5006
USER hookproof
WORKDIR /work
EXPOSE 5005
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python3", "-I", "-c", "import os, urllib.request; urllib.request.urlopen('http://' + os.environ['HOOKPROOF_CONTROL'] + '/health', timeout=3)"]
ENTRYPOINT ["hookproof"]
CMD ["serve", "--host", "0.0.0.0", "--control", "127.0.0.1:5006"]
