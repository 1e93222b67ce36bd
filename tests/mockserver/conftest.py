import pytest

from tests.mockserver.delivery.endpoints import LoopbackAuthority


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> LoopbackAuthority:
    return LoopbackAuthority(tmp_path_factory.mktemp("authority"))
