//! Certificates of the listeners.
use crate::config::{TlsFiles, FILE_BYTES_MAX};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::ServerConfig;
use std::path::Path;
use std::sync::Arc;

/// A server configuration from a chain and a key, for HTTP/2 and HTTP/1.1.
///
/// # Errors
/// A sentence with the file and what to do; nothing of the key stands in it.
pub fn load(files: &TlsFiles) -> Result<Arc<ServerConfig>, String> {
    let shown = files.certificate.display();
    let mut chain = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&read(&files.certificate)?) {
        chain.push(certificate.map_err(|e| format!("{shown}: {e}; give a PEM file of certificates"))?);
    }
    if chain.is_empty() {
        return Err(format!("{shown}: no certificate in it; give a PEM file with BEGIN CERTIFICATE"));
    }
    let shown = files.key.display();
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?)
        .map_err(|e| format!("{shown}: no usable private key: {e}; give a PEM file with BEGIN PRIVATE KEY"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS cannot be set up: {e}"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| format!("{shown}: the key does not go with the certificate: {e}; give a pair"))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let meta = std::fs::metadata(path).map_err(|e| format!("{shown}: cannot be read: {e}; give a readable file"))?;
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return Err(format!("{shown}: is no regular file of up to {FILE_BYTES_MAX} bytes; give a PEM file"));
    }
    std::fs::read(path).map_err(|e| format!("{shown}: cannot be read: {e}; give a readable file"))
}
