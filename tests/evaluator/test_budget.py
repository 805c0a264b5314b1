from kumi.evaluator.budget import Budget


def test_without_limits_nothing_is_ever_used_up():
    assert Budget().spent_of_virtual(10**15) == ""
    assert Budget(clock=lambda: 1e9).spent_of_real(0.0) == ""


def test_virtual_time_counts_to_the_limit_itself():
    assert Budget(virtual_ms=100).spent_of_virtual(100) == ""
    assert "virtual time" in Budget(virtual_ms=100).spent_of_virtual(101)


def test_real_time_is_the_clocks_from_the_start_on():
    budget = Budget(real_s=2.0, clock=lambda: 12.5)
    assert budget.now_s() == 12.5
    assert budget.spent_of_real(10.5) == ""
    assert "real time" in budget.spent_of_real(10.0)


def test_without_a_clock_no_real_time_goes_by():
    assert Budget(real_s=0.0).now_s() == 0.0
    assert Budget(real_s=0.0).spent_of_real(0.0) == ""
