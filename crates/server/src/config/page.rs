//! `[page]`: where the page and the interface can be had over TCP. Only the user's own file can say so: it decides who
//! can reach the server at all.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source};

/// The word for no door at all.
const OFF: &str = "off";

/// The most other names that the page can have.
const HOSTS_MAX: usize = 32;

/// The longest name of a host, with its port.
const HOST_BYTES_MAX: usize = 260;

/// Where the page can be had, and under which names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Where it listens.
    pub listen: Listen,
    /// Names beside its own address under which it is reached: by way of a proxy, or in a tailnet.
    pub allowed_hosts: Vec<AllowedHost>,
    /// The beginning of links that are sent elsewhere, if not the one that is found.
    pub public_url: Option<String>,
    /// What it shows to be itself. Without it, it speaks no TLS.
    pub tls: Option<Tls>,
    /// Whether somebody else speaks TLS in front.
    pub behind_proxy: bool,
}

/// Where the page is listened for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Listen {
    /// On loopback, at the port it had before, the usual one, or any.
    #[default]
    Usual,
    /// Here and nowhere else.
    At(SocketAddr),
    /// Nowhere.
    Off,
}

/// A name under which the page may be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    /// How it is asked for.
    pub scheme: Scheme,
    /// The name in lower case, with its port if that is said.
    pub host: String,
}

/// How a browser asks for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// In the open.
    Http,
    /// Over TLS.
    Https,
}

/// A certificate and its key, each a file in PEM form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate, with those that vouch for it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The table as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageTable {
    listen: Option<Spanned<String>>,
    #[serde(default)]
    allowed_hosts: Vec<Spanned<String>>,
    public_url: Option<Spanned<String>>,
    tls: Option<TlsTable>,
    #[serde(default)]
    behind_proxy: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsTable {
    certificate: Spanned<String>,
    key: Spanned<String>,
}

impl PageTable {
    pub(super) fn read(self, source: &Source) -> Result<Page, ConfigError> {
        let tls = self.tls.map(|tls| tls.read(source)).transpose()?;
        let is_safe = tls.is_some() || self.behind_proxy;
        let listen = self.listen.map(|listen| read_listen(source, &listen, is_safe)).transpose()?;
        if let Some(extra) = self.allowed_hosts.get(HOSTS_MAX) {
            let message = format!("at most {HOSTS_MAX} names can be allowed");
            return Err(source.wrong(extra.span(), message, None));
        }
        let hosts = self.allowed_hosts.iter().map(|host| {
            AllowedHost::parse(host.get_ref()).ok_or_else(|| {
                let message = format!(
                    "`{}` is no name of a host such as `ostler.example.org`, `ostler.example.org:8443` or \
                     `http://localhost:9000`",
                    host.get_ref()
                );
                source.wrong(host.span(), message, None)
            })
        });
        let mut allowed_hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        let public_url = self.public_url.as_ref().map(|url| public(source, url)).transpose()?;
        let public_url = public_url.map(|(url, host)| {
            // A link that leads to a door that does not open is worth nothing.
            if !allowed_hosts.contains(&host) {
                allowed_hosts.push(host);
            }
            url
        });
        Ok(Page {
            listen: listen.unwrap_or_default(),
            allowed_hosts,
            public_url,
            tls,
            behind_proxy: self.behind_proxy,
        })
    }
}

/// The beginning of an address, and the host in it.
fn public(source: &Source, url: &Spanned<String>) -> Result<(String, AllowedHost), ConfigError> {
    let text = url.get_ref().trim_end_matches('/');
    let has_scheme = text.starts_with("https://") || text.starts_with("http://");
    let host = AllowedHost::parse(text).filter(|_| has_scheme).ok_or_else(|| {
        let message = format!(
            "`{}` is not the beginning of an address such as `https://ostler.example.org`",
            url.get_ref()
        );
        source.wrong(url.span(), message, None)
    })?;
    Ok((text.to_owned(), host))
}

/// What can be reached from other machines has to be safe on the way.
fn read_listen(source: &Source, listen: &Spanned<String>, is_safe: bool) -> Result<Listen, ConfigError> {
    let text = listen.get_ref().as_str();
    if text == OFF {
        return Ok(Listen::Off);
    }
    let port = |port: &str| Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    let address = text.parse().ok().or_else(|| port(text.strip_prefix("localhost:")?));
    let Some(address) = address else {
        let message = format!("`{text}` is no address such as `127.0.0.1:7378`, and not `off`");
        return Err(source.wrong(listen.span(), message, None));
    };
    if !(address.ip().is_loopback() || is_safe) {
        let message = format!(
            "`{text}` can be reached from other machines: give `tls = {{ certificate = \"…\", key = \"…\" }}`, or \
             say `behind_proxy = true` if somebody else speaks TLS in front"
        );
        return Err(source.wrong(listen.span(), message, None));
    }
    Ok(Listen::At(address))
}

impl TlsTable {
    fn read(self, source: &Source) -> Result<Tls, ConfigError> {
        let path = |file: Spanned<String>| {
            let path = PathBuf::from(file.get_ref());
            if path.is_absolute() {
                return Ok(path);
            }
            Err(source.wrong(file.span(), format!("`{}` is not an absolute path", file.get_ref()), None))
        };
        Ok(Tls { certificate: path(self.certificate)?, key: path(self.key)? })
    }
}

impl AllowedHost {
    /// A name, with a port if need be. Where nothing is said of how it is asked for, it is over TLS.
    fn parse(text: &str) -> Option<AllowedHost> {
        let text = text.to_ascii_lowercase();
        let (scheme, host) = match text.split_once("://") {
            Some(("http", host)) => (Scheme::Http, host),
            Some(("https", host)) => (Scheme::Https, host),
            Some(_) => return None,
            None => (Scheme::Https, text.as_str()),
        };
        let (name, port) = split_port(host);
        let is_address = || {
            let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            inner.is_some_and(|it| it.parse::<std::net::Ipv6Addr>().is_ok())
        };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        let fits = !name.is_empty() && host.len() <= HOST_BYTES_MAX;
        ((is_name || is_address()) && is_port && fits)
            .then(|| AllowedHost { scheme, host: scheme.shorten(host).to_owned() })
    }

    /// Whether a request for this host, at a server with this port, is meant.
    pub(crate) fn is(&self, host: &str, port: u16) -> bool {
        let (_, written) = split_port(&self.host);
        let with_port = || host.strip_suffix(&port.to_string())?.strip_suffix(':');
        self.host == host || (written.is_none() && with_port() == Some(self.host.as_str()))
    }
}

impl Scheme {
    /// As it stands in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// A host without the port that browsers leave out.
    pub(crate) fn shorten(self, host: &str) -> &str {
        let usual = match self {
            Scheme::Http => ":80",
            Scheme::Https => ":443",
        };
        host.strip_suffix(usual).unwrap_or(host)
    }
}

/// A host, and its port if there is one. The address in brackets has colons of its own.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Option<(Scheme, String)> {
        AllowedHost::parse(text).map(|it| (it.scheme, it.host))
    }

    #[test]
    fn a_host_is_a_name_with_how_it_is_asked_for() {
        let https = |text: &str| Some((Scheme::Https, text.to_owned()));
        assert_eq!(host("Ostler.Example.org"), https("ostler.example.org"));
        assert_eq!(host("https://a.ts.net:443"), https("a.ts.net"));
        assert_eq!(host("a.b:8443"), https("a.b:8443"));
        assert_eq!(host("[::1]:9000"), https("[::1]:9000"));
        assert_eq!(host("http://localhost:9000"), Some((Scheme::Http, "localhost:9000".into())));
        for text in
            ["", ":1", "*", "*.a.b", "a/b", "https://a/", "ftp://a", "a b", "a:b", "a:0", "u@a", "[x]"]
        {
            assert_eq!(host(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_without_a_port_is_also_meant_with_the_servers_own() {
        let host = AllowedHost::parse("box.example.org").expect("a host");
        assert!(host.is("box.example.org", 7378) && host.is("box.example.org:7378", 7378));
        for other in
            ["box.example.org:7379", "box.example.org.evil", "evil-box.example.org", "box.example.org:"]
        {
            assert!(!host.is(other, 7378), "{other}");
        }
        let host = AllowedHost::parse("box:9").expect("a host");
        assert!(host.is("box:9", 7378) && !host.is("box", 7378) && !host.is("box:7378", 7378));
    }
}
