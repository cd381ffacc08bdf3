public import FoundationEssentials
import LinuxSupport

/// A cookie (RFC 6265). A value with the members of Foundation's class of this name.
public struct HTTPCookie: Hashable, Sendable {
    /// The rule by which a storage accepts cookies.
    public enum AcceptPolicy: UInt, Hashable, Sendable {
        /// Every cookie is accepted.
        case always = 0
        /// No cookie is accepted.
        case never = 1
        /// Only cookies for the host of the main document are accepted. Without a main document, every cookie is accepted.
        case onlyFromMainDocumentDomain = 2
    }

    /// The name of the cookie.
    public let name: String
    /// The value of the cookie.
    public let value: String
    /// The host in lower case. A leading dot means that hosts below it receive the cookie, too.
    public let domain: String
    /// The path below which requests have the cookie. It begins with `/`.
    public let path: String
    /// The time when the cookie ends. If nil, it ends with the storage.
    public let expiresDate: Date?
    /// A Boolean value that indicates whether the cookie is sent only over https.
    public let isSecure: Bool
    /// A Boolean value that indicates whether a browser hides the cookie from scripts. It has no effect here.
    public let isHTTPOnly: Bool

    /// Creates a cookie.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - domain: The host. A leading dot means that hosts below it receive the cookie, too.
    ///   - path: The path below which requests have the cookie.
    ///   - expiresDate: The time when the cookie ends. If nil, it ends with the storage.
    ///   - isSecure: True if the cookie is sent only over https.
    ///   - isHTTPOnly: True if a browser hides the cookie from scripts.
    public init(
        name: String,
        value: String,
        domain: String,
        path: String = "/",
        expiresDate: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false
    ) {
        (self.name, self.value, self.domain, self.path) = (name, value, domain.lowercased(), path)
        (self.expiresDate, self.isSecure, self.isHTTPOnly) = (expiresDate, isSecure, isHTTPOnly)
    }

    /// Creates the cookie of a field Set-Cookie. Returns nil if the server must not set it.
    ///
    /// A server may set cookies for its own host and for the domains above it, except for a domain of one label such as `com`. There is no
    /// list of public suffixes: `co.uk` is not recognized. A name that begins with `__Host-` or `__Secure-` requires the attributes that it
    /// promises.
    ///
    /// Source: RFC 6265, sections 5.2 and 5.3.
    package init?(setCookie field: String, for origin: CookieOrigin, now: Date) {
        // Control characters would become a part of a request.
        guard field.utf8.count <= 4096, !field.hasControlCharacter else { return nil }
        var parts = field.split(at: ";", omittingEmptySubsequences: false)[...]
        let pair = parts.removeFirst().split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = pair[0].trimmingBlanks
        guard pair.count == 2, !name.isEmpty else { return nil }
        var attributes: [String: String] = [:]
        for part in parts {
            let pair = part.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // The last of several attributes with one name counts.
            attributes[pair[0].trimmingBlanks.lowercased()] = pair.count == 2 ? pair[1].trimmingBlanks : ""
        }

        var domain = attributes["domain"]?.lowercased() ?? ""
        if domain.utf8.first == UInt8(ascii: ".") { domain.removeFirst() }
        let path = attributes["path"].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        let isSecure = attributes["secure"] != nil
        let prefix = name.lowercased().utf8
        let isShared = origin.mayShare(domain)
        guard isShared || domain.isEmpty || domain == origin.host,
            origin.isSecure || !isSecure,
            !prefix.starts(with: "__secure-".utf8) || isSecure,
            !prefix.starts(with: "__host-".utf8) || isSecure && domain.isEmpty && path == "/"
        else { return nil }
        self.init(
            name: name,
            value: pair[1].trimmingBlanks,
            domain: isShared ? "." + domain : origin.host,
            path: path ?? origin.defaultPath,
            expiresDate: CookieDate.end(maximumAge: attributes["max-age"], expires: attributes["expires"], now: now),
            isSecure: isSecure,
            isHTTPOnly: attributes["httponly"] != nil
        )
    }
}

extension HTTPCookie {
    /// A Boolean value that indicates whether the cookie ends with the storage.
    public var isSessionOnly: Bool { expiresDate == nil }

    /// The domain without a leading dot.
    var host: String { isHostOnly ? domain : String(domain.dropFirst()) }

    private var isHostOnly: Bool { domain.utf8.first != UInt8(ascii: ".") }

    func isExpired(at now: Date) -> Bool { expiresDate.map { $0 <= now } ?? false }

    /// Returns whether the cookie replaces another.
    func replaces(_ other: HTTPCookie) -> Bool { (name, host, path) == (other.name, other.host, other.path) }

    /// Returns whether a request has the cookie.
    ///
    /// Source: RFC 6265, section 5.4.
    func matches(_ origin: CookieOrigin, now: Date) -> Bool {
        let (asked, kept) = (origin.path.utf8, path.utf8)
        return (isHostOnly ? origin.host == domain : origin.domains.contains(host)) && !isExpired(at: now)
            && (!isSecure || origin.isSecure) && asked.starts(with: kept)
            && (asked.count == kept.count || kept.last == UInt8(ascii: "/")
                || asked.dropFirst(kept.count).first == UInt8(ascii: "/"))
    }

    /// Returns the value of the field Cookie; nil without cookies.
    package static func field(_ cookies: [HTTPCookie]) -> String? {
        cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}

/// The parts of a URL that decide about cookies.
package struct CookieOrigin {
    /// The host in lower case.
    let host: String
    /// The path, not empty.
    let path: String
    let isSecure: Bool
    /// The host, and the domains above it. An address has none.
    let domains: [String]

    /// Creates the origin of a URL. Returns nil if the scheme is not http or https, or if there is no host.
    package init?(_ url: URL) {
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", let host = url.host()?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.host = host
        path = url.path().isEmpty ? "/" : url.path()
        isSecure = scheme == "https"
        let labels = host.split(at: ".", omittingEmptySubsequences: false)
        // No top-level domain begins with a digit. The last part of an IPv4 address in any form does.
        let isAddress =
            host.utf8.contains(UInt8(ascii: ":"))
            || labels.last?.utf8.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
        domains = isAddress ? [host] : labels.indices.map { labels[$0...].joined(separator: ".") }
    }

    /// Returns whether the host may set cookies for this domain and the hosts below it: for a domain of several labels.
    func mayShare(_ domain: String) -> Bool {
        domains.contains(domain) && domain.utf8.contains(UInt8(ascii: ".")) && domain.utf8.last != UInt8(ascii: ".")
    }

    /// Source: RFC 6265, section 5.1.4.
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// Dates of cookies.
package enum CookieDate {
    /// The maximum lifetime in seconds, 400 days (RFC 6265bis, section 5.5).
    private static let maximumAge = 400.0 * 86400

    /// Returns the expiry of a cookie; nil if it has neither `Max-Age` nor `Expires`. `Max-Age` has priority.
    package static func end(maximumAge: String?, expires: String?, now: Date) -> Date? {
        if let maximumAge {
            let digits = maximumAge.utf8.first == UInt8(ascii: "-") ? maximumAge.dropFirst() : maximumAge[...]
            if !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
                let age = min(Double(maximumAge) ?? 0, Self.maximumAge)
                return age > 0 ? now + age : .distantPast
            }
        }
        return expires.flatMap(date).map { min($0, now + Self.maximumAge) }
    }

    /// Parses a date in any of the formats that servers use.
    ///
    /// Source: RFC 6265, section 5.1.1.
    static func date(_ text: String) -> Date? {
        var (time, day, month, year): ([Int64]?, Int64?, Int64?, Int64?)
        for word in text.utf8.split(whereSeparator: isDelimiter) {
            let parts = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            let numbers = parts.compactMap { number($0, 1...2) }
            if time == nil, numbers.count == 3 {
                time = numbers
            } else if day == nil, let found = number(word, 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(of: String(Substring(word.prefix(3))).lowercased()) {
                month = Int64(found) + 1
            } else if year == nil, let found = number(word, 2...4) {
                year = found + (found < 70 ? 2000 : found < 100 ? 1900 : 0)
            }
        }
        guard let time, time[0] < 24, time[1] < 60, time[2] < 60, let day, 1...31 ~= day, let month, let year,
            year >= 1601
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: Double(days * 86400 + time[0] * 3600 + time[1] * 60 + time[2]))
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        [0x09...0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e].contains { $0 ~= byte }
    }

    /// Returns the number at the beginning of a word; nil if its number of digits is not in the range.
    private static func number(_ word: Substring.UTF8View, _ digits: ClosedRange<Int>) -> Int64? {
        let number = word.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return digits ~= number.count ? Int64(String(Substring(number))) : nil
    }
}

extension String {
    package var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7f } }
}
