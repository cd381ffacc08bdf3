import FoundationEssentials
import LinuxSupport

/// A cookie, as the user agent of RFC 6265 keeps it. Sessions do not use it yet.
struct HTTPCookie: Hashable, Sendable {
    /// The name. It may be empty.
    let name: String
    /// The value.
    let value: String
    /// The host that gets the cookie, in lower case and without a leading dot.
    let domain: String
    /// A Boolean value that indicates whether only the host named by ``domain`` gets the cookie, and no host below it.
    let isHostOnly: Bool
    /// The path below which requests get the cookie. It begins with `/`.
    let path: String
    /// When the cookie ends. If nil, it ends with the session.
    let expiresDate: Date?
    /// A Boolean value that indicates whether the cookie is sent only over https.
    let isSecure: Bool
    /// A Boolean value that indicates whether the server keeps scripts from reading the cookie. It has no effect here.
    let isHTTPOnly: Bool

    /// Creates a cookie.
    ///
    /// - Parameters:
    ///   - domain: The host. A leading dot means that hosts below it get the cookie, too.
    ///   - path: The path below which requests get the cookie.
    ///   - expiresDate: When the cookie ends. If nil, it ends with the session.
    init(
        name: String,
        value: String,
        domain: String,
        path: String = "/",
        expiresDate: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false
    ) {
        self.name = name
        self.value = value
        isHostOnly = domain.utf8.first != UInt8(ascii: ".")
        self.domain = (isHostOnly ? domain : String(domain.dropFirst())).lowercased()
        self.path = path
        self.expiresDate = expiresDate
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }

    /// Returns the cookie of a `Set-Cookie` field; nil if the server may not set it.
    ///
    /// A server may set cookies for its own host and for the domains above it, except for a domain of one label such as `com`. There is no
    /// list of suffixes: `co.uk` is not recognized. A name that begins with `__Host-` or `__Secure-` requires what it promises.
    ///
    /// Source: RFC 6265, sections 5.2 and 5.3.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - url: The URL of the request.
    ///   - now: The present time.
    init?(setCookie field: String, for url: URL, now: Date) {
        // Control characters would end up in a request.
        guard !field.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7f }),
            let host = url.host()?.lowercased(), field.utf8.count <= 4096
        else { return nil }
        var parts = field.split(at: ";", omittingEmptySubsequences: false)[...]
        let pair = parts.removeFirst().split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return nil }
        let name = pair[0].withoutOuterSpace
        var attributes: [String: String] = [:]
        for part in parts {
            let pair = part.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // The last of several attributes with one name counts.
            attributes[pair[0].withoutOuterSpace.lowercased()] = pair.count == 2 ? pair[1].withoutOuterSpace : ""
        }

        var domain = attributes["domain"]?.lowercased() ?? ""
        if domain.utf8.first == UInt8(ascii: ".") { domain.removeFirst() }
        let path = attributes["path"].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        let isSecure = attributes["secure"] != nil
        let isTrustworthy = url.scheme?.lowercased() == "https"
        guard
            domain.isEmpty
                || Self.host(host, isIn: domain) && (domain == host || domain.utf8.contains(UInt8(ascii: "."))),
            isTrustworthy || !isSecure,
            !name.utf8.starts(with: "__Secure-".utf8) || isSecure,
            !name.utf8.starts(with: "__Host-".utf8) || isSecure && domain.isEmpty && path == "/"
        else { return nil }

        self.init(
            name: name,
            value: pair[1].withoutOuterSpace,
            domain: domain.isEmpty ? host : "." + domain,
            path: path ?? Self.defaultPath(of: url),
            expiresDate: Self.end(attributes, now: now),
            isSecure: isSecure,
            isHTTPOnly: attributes["httponly"] != nil
        )
    }

    /// `Max-Age` counts before `Expires`.
    private static func end(_ attributes: [String: String], now: Date) -> Date? {
        if let age = attributes["max-age"], let first = age.utf8.first,
            first == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= first,
            age.utf8.dropFirst().allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), age != "-"
        {
            // A year is long enough, and keeps the date representable.
            let seconds = first == UInt8(ascii: "-") ? 0 : min(Double(age) ?? 0, 400 * 86400)
            return seconds > 0 ? now + seconds : .distantPast
        }
        return attributes["expires"].flatMap {
            HTTPDate.secondsSince1970($0, now: Int64(now.timeIntervalSince1970))
        }.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Source: RFC 6265, section 5.1.4.
    private static func defaultPath(of url: URL) -> String {
        let path = url.path()
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether a host is the domain or below it. An address is only in itself.
    static func host(_ host: String, isIn domain: String) -> Bool {
        host == domain
            || host.utf8.reversed().starts(with: ("." + domain).utf8.reversed())
                && !host.utf8.contains(UInt8(ascii: ":"))
                && !host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Returns whether a request gets the cookie.
    ///
    /// Source: RFC 6265, section 5.4.
    func matches(_ url: URL, now: Date) -> Bool {
        guard let host = url.host()?.lowercased(), expiresDate.map({ $0 > now }) ?? true else { return false }
        let (asked, kept) = (url.path().isEmpty ? "/".utf8 : url.path().utf8, path.utf8)
        return (isHostOnly ? host == domain : Self.host(host, isIn: domain))
            && (!isSecure || url.scheme?.lowercased() == "https")
            && asked.starts(with: kept)
            && (asked.count == kept.count || kept.last == UInt8(ascii: "/")
                || asked.dropFirst(kept.count).first == UInt8(ascii: "/"))
    }
}

extension Substring {
    fileprivate var withoutOuterSpace: String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = Array(utf8).drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? bytes.startIndex
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

/// The cookies of a session. Thread-safe. They live in memory and end with it.
final class HTTPCookieStorage: Sendable {
    /// The maximum number of cookies of one domain. The oldest go first.
    static let maximumPerDomain = 50
    /// The maximum number of cookies of all domains. The oldest go first.
    static let maximum = 3000

    /// In the order in which they were set first.
    private let kept = Locked<[HTTPCookie]>([])
    private let now: @Sendable () -> Date

    /// Creates an empty storage.
    convenience init() {
        self.init(now: { Date() })
    }

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// All cookies that have not expired, the oldest first.
    var cookies: [HTTPCookie] {
        let now = now()
        return kept.withLock { $0.filter { $0.expiresDate.map { $0 > now } ?? true } }
    }

    /// Returns the cookies of a request: those with longer paths first, then the older ones.
    func cookies(for url: URL) -> [HTTPCookie] {
        let now = now()
        let cookies = kept.withLock { $0.filter { $0.matches(url, now: now) } }
        return cookies.enumerated().sorted {
            (-$0.element.path.utf8.count, $0.offset) < (-$1.element.path.utf8.count, $1.offset)
        }
        .map(\.element)
    }

    /// Keeps a cookie. It replaces the one with the same name, domain and path. A cookie that has expired only removes that.
    func setCookie(_ cookie: HTTPCookie) {
        let now = now()
        kept.withLock { kept in
            let isGone = cookie.expiresDate.map { $0 <= now } ?? false
            let index = kept.firstIndex { ($0.name, $0.domain, $0.path) == (cookie.name, cookie.domain, cookie.path) }
            switch (index, isGone) {
            case (let index?, true): kept.remove(at: index)
            case (let index?, false): kept[index] = cookie
            case (nil, true): break
            case (nil, false):
                kept.removeAll { $0.expiresDate.map { $0 <= now } ?? false }
                if kept.count(where: { $0.domain == cookie.domain }) >= Self.maximumPerDomain,
                    let oldest = kept.firstIndex(where: { $0.domain == cookie.domain })
                {
                    kept.remove(at: oldest)
                }
                if kept.count >= Self.maximum { kept.removeFirst() }
                kept.append(cookie)
            }
        }
    }

    /// Removes a cookie.
    func deleteCookie(_ cookie: HTTPCookie) {
        kept.withLock { $0.removeAll { ($0.name, $0.domain, $0.path) == (cookie.name, cookie.domain, cookie.path) } }
    }

    /// Removes all cookies.
    func removeAll() {
        kept.withLock { $0 = [] }
    }

    /// Keeps the cookies of a response.
    ///
    /// - Parameters:
    ///   - fields: The values of its `Set-Cookie` fields.
    ///   - url: The URL of the request.
    func setCookies(_ fields: [String], for url: URL) {
        for field in fields {
            guard let cookie = HTTPCookie(setCookie: field, for: url, now: now()) else { continue }
            // Without TLS anyone may have set it, so it replaces no cookie that is only for TLS.
            let isShadowing = cookies.contains { $0.isSecure && ($0.name, $0.domain) == (cookie.name, cookie.domain) }
            if url.scheme?.lowercased() == "https" || !isShadowing { setCookie(cookie) }
        }
    }

    /// The value of the `Cookie` field of a request; nil without cookies.
    func field(for url: URL) -> String? {
        let cookies = cookies(for: url)
        guard !cookies.isEmpty else { return nil }
        return cookies.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
