"""Addresses, networks, URLs: what they tell."""

from __future__ import annotations

import pytest

from tests.registry.custom.cel.run import run


@pytest.mark.parametrize(
    "text",
    [
        "ip('10.0.0.1').family() == 4",
        "isIP('::1') && !isIP('10.0.0')",
        "ip('127.0.0.1').isLoopback()",
        "ip('0.0.0.0').isUnspecified()",
        "ip('224.0.0.1').isLinkLocalMulticast()",
        "ip('169.254.1.1').isLinkLocalUnicast()",
        "ip('8.8.8.8').isGlobalUnicast() && !ip('127.0.0.1').isGlobalUnicast()",
        "ip('::1') == ip('0:0:0:0:0:0:0:1')",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
        "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
        "cidr('10.0.0.0/8').prefixLength() == 8",
        "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0')",
        "isURL('https://a.example') && !isURL('a b')",
        "url('https://u@a.example:80/x y?k=v').getScheme() == 'https'",
        "url('https://u@a.example:80/').getHost() == 'a.example:80'",
        "url('https://a.example:80/').getHostname() == 'a.example'",
        "url('https://[::1]/').getHostname() == '::1'",
        "url('https://a.example:80/').getPort() == '80' && url('https://a.example/').getPort() == ''",
        "url('https://a.example/x y').getEscapedPath() == '/x%20y'",
        "url('https://a.example/?k=v&k=w').getQuery()['k'] == ['v', 'w']",
    ],
)
def test_what_holds(text: str) -> None:
    assert run(text) is True


@pytest.mark.parametrize("text", ["ip('::ffff:1.2.3.4')", "cidr('10.0.0.0')", "url('a b')", "url('https://a:b/')"])
def test_what_fails(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        run(text)
