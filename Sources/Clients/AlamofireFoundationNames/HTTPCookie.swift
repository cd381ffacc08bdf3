public import FoundationEssentials
public import ReachabilityRequests

extension HTTPCookie {
    /// Returns the field Cookie of a request with these cookies.
    public static func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        field(cookies).map { ["Cookie": $0] } ?? [:]
    }

    /// Returns the cookies of the field Set-Cookie of an answer. Several fields that were joined with commas are split again. That can be
    /// wrong if a value contains a comma. A session reads the separate fields.
    public static func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        let joined = headerFields.first { $0.key.lowercased() == "set-cookie" }?.value ?? ""
        var fields: [String] = []
        for part in joined.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            // A date has a comma, but no name before the next semicolon.
            let pair = part.prefix { $0 != UInt8(ascii: ";") }
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            if name.count < pair.count, Substring(name).trimmingBlanks.isToken {
                fields.append(String(Substring(part)))
            } else if !fields.isEmpty {
                fields[fields.count - 1] += "," + Substring(part)
            }
        }
        return fields.compactMap { HTTPCookie(setCookie: $0, for: origin, now: Date()) }
    }

    /// Creates a cookie; nil without a name, a value, a path, and a domain or an origin, and if one of them contains a control character or
    /// `;`.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        let texts = properties.mapValues { $0 as? String ?? "\($0)" }
        let origin = (properties[.originURL] as? URL)?.host() ?? texts[.originURL].flatMap { URL(string: $0)?.host() }
        guard let name = texts[.name], let value = texts[.value], let path = texts[.path],
            let domain = texts[.domain] ?? origin, !name.isEmpty, !domain.isEmpty, path.utf8.first == UInt8(ascii: "/"),
            [name, value, domain, path].allSatisfy({ !$0.hasControlCharacter && !$0.utf8.contains(UInt8(ascii: ";")) })
        else { return nil }
        self.init(
            name: name,
            value: value,
            domain: domain,
            path: path,
            expiresDate: properties[.expires] as? Date
                ?? CookieDate.end(maximumAge: texts[.maximumAge], expires: texts[.expires], now: Date()),
            isSecure: texts[.secure].map { !["", "FALSE"].contains($0.uppercased()) } ?? false
        )
    }

    /// The values with which the cookie can be created again.
    public var properties: [HTTPCookiePropertyKey: Any]? {
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: domain, .path: path]
        properties[.expires] = expiresDate
        if isSecure { properties[.secure] = "TRUE" }
        return properties
    }
}

/// A property of a cookie.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// The name of the property.
    public let rawValue: String

    /// Creates a property with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the cookie.
    public static let name = Self(rawValue: "Name")
    /// The value of the cookie.
    public static let value = Self(rawValue: "Value")
    /// The host. A leading dot means that hosts below it receive the cookie, too.
    public static let domain = Self(rawValue: "Domain")
    /// The path of the requests that contain the cookie.
    public static let path = Self(rawValue: "Path")
    /// The URL whose host is the domain, if there is no domain.
    public static let originURL = Self(rawValue: "OriginURL")
    /// The expiry of the cookie, a `Date` or a text.
    public static let expires = Self(rawValue: "Expires")
    /// The lifetime in seconds. It has priority over a text of ``expires``.
    public static let maximumAge = Self(rawValue: "Max-Age")
    /// `TRUE` if the cookie is sent only over https.
    public static let secure = Self(rawValue: "Secure")
    /// The version of the cookie. It has no effect.
    public static let version = Self(rawValue: "Version")
    /// Whether the cookie is discarded at the end of the session. It has no effect: a cookie without an expiry ends with the storage.
    public static let discard = Self(rawValue: "Discard")
}
