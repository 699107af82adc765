//! Who asks: by the key that a request carries.
use crate::app::{State, Tenant};
use crate::config::Anonymous;
use crate::problem::Problem;
use forebay_decide::tag::keyed_tag;
use forebay_messages::ErrorKind;
use forebay_spec::http::BEARER;
use forebay_spec::limits::CREDENTIAL_BYTES_MAX;
use hyper::header::AUTHORIZATION;
use hyper::HeaderMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// The credential of `x-api-key` or `authorization: Bearer`, by the rules of `spec/http.md`.
///
/// # Errors
/// Two that differ, one that is too long or no single word. Nothing of a credential stands in the answer.
pub fn credential(headers: &HeaderMap) -> Result<Option<&[u8]>, Problem> {
    let mut found: Option<&[u8]> = None;
    let bearer = headers.get_all(AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, rest) = value.as_bytes().split_at_checked(BEARER.len())?;
        scheme.eq_ignore_ascii_case(BEARER.as_bytes()).then(|| rest.trim_ascii())
    });
    let keys = headers.get_all("x-api-key").iter().map(|value| value.as_bytes().trim_ascii());
    for key in keys.chain(bearer).filter(|key| !key.is_empty()) {
        let fault = if key.iter().any(|b| b.is_ascii_whitespace()) {
            Some("the key is not a single word; check it for blanks".to_owned())
        } else if key.len() > CREDENTIAL_BYTES_MAX as usize {
            Some(format!("the key has {} bytes, the limit is {CREDENTIAL_BYTES_MAX}; check it", key.len()))
        } else if found.is_some_and(|other| other != key) {
            Some("two different keys came; send x-api-key or authorization".to_owned())
        } else {
            None
        };
        if let Some(what) = fault {
            return Err(Problem::wrong("credential", ErrorKind::InvalidRequest, what));
        }
        found = Some(key);
    }
    Ok(found)
}

/// The tenant whose key this is; `None` for who may come without one.
///
/// # Errors
/// 401 for a key that nobody has, and for none where one is wanted.
pub fn tenant(state: &State, key: Option<&[u8]>, peer: SocketAddr) -> Result<Option<Arc<Tenant>>, Problem> {
    let bundle = state.config.policy.bundle();
    // without tenants no key means anything: clients send one all the same
    if let Some(key) = key.filter(|_| !state.tenants.is_empty()) {
        let index = bundle.tenant(&keyed_tag(&bundle.hash_key, key));
        let owner = index.and_then(|i| state.config.policy.tenant_of(i));
        let known = owner.and_then(|i| state.tenants.get(usize::from(i)));
        let unknown = || Problem::wrong("key_unknown", ErrorKind::Authentication, "the key is not known; check it");
        return known.cloned().map(Some).ok_or_else(unknown);
    }
    let allowed = match state.config.anonymous {
        Anonymous::Never => false,
        Anonymous::Loopback => peer.ip().to_canonical().is_loopback(),
        Anonymous::Always => true,
    };
    let missing = "no key that is known here; send one as x-api-key or as authorization: Bearer";
    allowed.then_some(None).ok_or_else(|| Problem::wrong("key_missing", ErrorKind::Authentication, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in all {
            map.append(
                *name,
                hyper::header::HeaderValue::from_str(value).unwrap_or(hyper::header::HeaderValue::from_static("?")),
            );
        }
        map
    }

    #[test]
    fn both_ways_to_send_a_key() {
        for all in [
            &[("x-api-key", "k1")][..],
            &[("authorization", "Bearer k1")],
            &[("authorization", "bearer  k1 ")],
            &[("authorization", "Basic abc"), ("x-api-key", "k1")],
            &[("authorization", "Bearer k1"), ("x-api-key", "k1")],
        ] {
            assert_eq!(credential(&headers(all)).ok().flatten(), Some(&b"k1"[..]), "{all:?}");
        }
        assert_eq!(credential(&headers(&[("authorization", "Bearer ")])).ok(), Some(None));
    }

    #[test]
    fn faults_do_not_show_the_key() {
        let long = "s".repeat(300);
        for all in [
            &[("x-api-key", "secret1"), ("authorization", "Bearer secret2")][..],
            &[("x-api-key", "secret 1")],
            &[("x-api-key", long.as_str())],
        ] {
            let said = credential(&headers(all)).err().map(|problem| problem.error.message).unwrap_or_default();
            assert!(!said.is_empty() && !said.contains("secret") && !said.contains("sss"), "{said}");
        }
    }
}
