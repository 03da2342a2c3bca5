//! Native half of Mono.Net.Security.MonoTlsProviderFactory.
//!
//! Keeps nothing.
use vervet_runtime::icalls;

icalls! {
    /// The native library can be loaded.
    "Mono.Net.Security.MonoTlsProviderFactory::IsBtlsSupported" fn is_btls_supported(cx) -> bool {
        Ok(["/usr/lib/libmono-btls-shared.so", "/usr/lib/mono/lib/libmono-btls-shared.so"].iter().any(|p| std::path::Path::new(p).exists()))
    }
}
