import X509

/// URLs in certificates.
enum RevocationURL {
    /// Those that can be fetched: `ldap` cannot, and with bytes that no URL has nobody knows what would be asked.
    static func all(in names: [GeneralName]) -> [String] {
        names.compactMap { name in
            guard case .uniformResourceIdentifier(let url) = name, isUsable(url) else { return nil }
            return url
        }
    }

    static func isUsable(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else { return false }
        return url.utf8.count <= 2048 && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// The three characters of Base64 that mean something else in a path (RFC 3986, 2.1).
    static func escaped(_ base64: String) -> String {
        base64.map { character in
            switch character {
            case "+": "%2B"
            case "/": "%2F"
            case "=": "%3D"
            default: String(character)
            }
        }.joined()
    }

    /// The responders a certificate names (authorityInfoAccess, RFC 5280, 4.2.2.1).
    static func responders(of certificate: TrustCertificate) -> [String] {
        let access = (try? certificate.x509.extensions.authorityInformationAccess) ?? AuthorityInformationAccess()
        return all(in: access.filter { $0.method == .ocspServer }.map(\.location))
    }
}
