//! Which addresses may be called. The names behind a webhook can lead anywhere, also to this machine and to services
//! that trust whoever is inside.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Why an address is not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is this machine, or in its network.
    Private,
    /// It gives whoever asks the keys of this machine.
    Metadata,
    /// No connection can lead there.
    Nowhere,
}

/// The services from which machines in clouds get their keys: link-local, unique local, and two that are neither.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Sees whether an address may be called.
pub(crate) fn check(address: IpAddr, allow_private: bool) -> Result<(), Refused> {
    let real = inner(address);
    if METADATA.contains(&real) {
        return Err(Refused::Metadata);
    }
    if real.is_unspecified() || real.is_multicast() || real == IpAddr::V4(Ipv4Addr::BROADCAST) {
        return Err(Refused::Nowhere);
    }
    if is_public(address) || allow_private { Ok(()) } else { Err(Refused::Private) }
}

/// The address that is really meant, where one is written in another.
fn inner(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let segments = v6.segments();
    let last = Ipv4Addr::from_bits((u32::from(segments[6]) << 16) | u32::from(segments[7]));
    match segments[..6] {
        // Mapped, or translated by the network.
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => IpAddr::V4(last),
        _ => address,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = matches!(
        address.octets(),
        // This network, and what is reserved.
        [0 | 240..=255, ..]
        // Carrier-grade NAT.
        | [100, 64..=127, ..]
        // Protocol assignments, 6to4 relays, benchmarks.
        | [192, 0, 0, _] | [192, 88, 99, _] | [198, 18 | 19, ..]
    );
    !(is_special
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

/// Of the addresses that are given out, those that lead to no other kind of network. An IPv4 address in any of the forms
/// of IPv6 is none; only what a network translates on purpose is looked at for what it is.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return matches!(inner(IpAddr::V6(address)), IpAddr::V4(v4) if is_public_v4(v4));
    }
    let is_given_out = segments[0] & 0xe000 == 0x2000;
    let is_special = matches!(
        segments,
        // Teredo and other protocols, documentation, 6to4.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..]
    );
    is_given_out && !is_special
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Private => "it leads to this machine or its network; `allow_private = true` lets it",
            Refused::Metadata => "it leads to a service that gives out keys of this machine",
            Refused::Nowhere => "no connection can lead to its address",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str, allow_private: bool) -> Result<(), Refused> {
        check(address.parse().expect(address), allow_private)
    }

    #[test]
    fn what_is_not_public_is_refused() {
        for address in [
            "127.0.0.1",
            "127.8.9.1",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "0.1.2.3",
            "192.0.0.192",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.7",
            "192.88.99.1",
            "240.0.0.1",
            "::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "::ffff:8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::8.8.8.8",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::808:808",
            "2002:7f00:1::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
        ] {
            assert_eq!(of(address, false), Err(Refused::Private), "{address}");
            assert_eq!(of(address, true), Ok(()), "{address}");
        }
    }

    #[test]
    fn metadata_and_nowhere_are_refused_in_any_case() {
        let metadata = [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "168.63.129.16",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ];
        for address in metadata {
            assert_eq!(of(address, true), Err(Refused::Metadata), "{address}");
        }
        for address in
            ["0.0.0.0", "::", "224.0.0.1", "239.1.2.3", "255.255.255.255", "ff02::1", "::ffff:0.0.0.0"]
        {
            assert_eq!(of(address, true), Err(Refused::Nowhere), "{address}");
        }
    }

    #[test]
    fn what_is_public_is_called() {
        for address in [
            "8.8.8.8",
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001::200e",
            "2001:4860:4860::8888",
            "64:ff9b::808:808",
        ] {
            assert_eq!(of(address, false), Ok(()), "{address}");
        }
    }
}
