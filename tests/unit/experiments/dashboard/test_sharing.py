"""A view shared by its address: what it names, and who can open it."""

from labkit.experiments.dashboard.files.sharing import addresses, reach


def test_addresses_name_the_run_on_each_page_that_shows_one():
    found = addresses("http://localhost:8501/export?formats=csv", "20261130T132229Z-factorial-1c49a4")
    assert [each.page for each in found] == ["compare", "layers", "trajectory", "capacity"]
    assert found[0].address == "http://localhost:8501/compare?run_id=20261130T132229Z-factorial-1c49a4"
    assert addresses("", "a b")[0].address == "/compare?run_id=a+b"


def test_who_can_open_it():
    assert "on this machine only" in reach("127.0.0.1", (), "r1")
    assert "needs the same folder of runs" in reach("127.0.0.1", (), "r1")
    assert "wherever the dashboard runs" in reach("127.0.0.1", {"r1"}, "r1")
    assert "The server listens at 10.0.0.7" in reach("10.0.0.7", (), "r1")
    assert "every address of this machine" in reach(None, (), "r1")
