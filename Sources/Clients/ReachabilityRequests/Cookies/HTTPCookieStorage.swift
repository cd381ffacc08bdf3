public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// The cookies of sessions (RFC 6265). Thread-safe. They are in memory and end with the process.
///
/// A cookie is sent only to the host that set it, or below the domain that it names. Sites are not distinguished, so `SameSite` has no
/// effect.
public final class HTTPCookieStorage: Sendable {
    /// The storage of ``Session/default``. Every other session has its own, unless another is given.
    public static let shared = HTTPCookieStorage()

    /// The maximum number of cookies of one domain. The oldest are removed first.
    static let maximumPerDomain = 50
    /// The maximum number of cookies of all domains. The oldest are removed first.
    static let maximum = 3000

    fileprivate struct Entry {
        let cookie: HTTPCookie
        /// Counts the cookies in the order in which they were first set.
        let number: Int
        /// The time when it was last set.
        let stored: Date
    }

    fileprivate struct State {
        /// The cookies by domain, without a leading dot, the oldest first.
        var entries: [String: [Entry]] = [:]
        var lastNumber = 0
        var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    }

    private let state = Locked(State())
    private let now: @Sendable () -> Date

    /// Creates an empty storage.
    public convenience init() { self.init(now: { Date() }) }

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// The rule by which cookies of answers and of ``setCookies(_:for:mainDocumentURL:)`` are accepted.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// The cookies that have not expired, the oldest first. It is never nil.
    public var cookies: [HTTPCookie]? {
        let now = now()
        return state.withLock { $0.entries.values.joined().filter { !$0.cookie.isExpired(at: now) } }
            .sorted { $0.number < $1.number }.map(\.cookie)
    }

    /// Returns the cookies of a request: those with longer paths first, then the older ones. It is never nil.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = now()
        return state.withLock { state in origin.domains.flatMap { state.entries[$0] ?? [] } }
            .filter { $0.cookie.matches(origin, now: now) }
            .sorted { (-$0.cookie.path.utf8.count, $0.number) < (-$1.cookie.path.utf8.count, $1.number) }.map(\.cookie)
    }

    /// Keeps a cookie. It replaces the one with the same name, domain and path. A cookie that has expired only removes that.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = now()
        state.withLock { $0.set(cookie, now) }
    }

    /// Keeps cookies that ``cookieAcceptPolicy`` accepts.
    ///
    /// - Parameters:
    ///   - cookies: The cookies.
    ///   - url: Not used. The cookies have their domains.
    ///   - mainDocumentURL: The main document for ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        let main = mainDocumentURL.flatMap { CookieOrigin($0) }
        for cookie in cookies {
            switch cookieAcceptPolicy {
            case .never: return
            case .onlyFromMainDocumentDomain where main?.domains.contains(cookie.host) == false: continue
            case .always, .onlyFromMainDocumentDomain: setCookie(cookie)
            }
        }
    }

    /// Removes a cookie.
    public func deleteCookie(_ cookie: HTTPCookie) { remove { $0.cookie.replaces(cookie) } }

    /// Removes the cookies that were set at this time or later.
    public func removeCookies(since date: Date) { remove { $0.stored >= date } }

    private func remove(where isGone: (Entry) -> Bool) {
        state.withLock { state in
            state.entries = state.entries.mapValues { $0.filter { !isGone($0) } }.filter { !$0.value.isEmpty }
        }
    }
}

extension HTTPCookieStorage.State {
    fileprivate mutating func set(_ cookie: HTTPCookie, _ now: Date) {
        var kept = (entries[cookie.host] ?? []).filter { !$0.cookie.isExpired(at: now) }
        let place = kept.firstIndex { $0.cookie.replaces(cookie) }
        if cookie.isExpired(at: now) {
            if let place { kept.remove(at: place) }
        } else if let place {
            kept[place] = .init(cookie: cookie, number: kept[place].number, stored: now)
        } else {
            if kept.count >= HTTPCookieStorage.maximumPerDomain { kept.removeFirst() }
            lastNumber += 1
            kept.append(.init(cookie: cookie, number: lastNumber, stored: now))
        }
        entries[cookie.host] = kept.isEmpty ? nil : kept
        guard entries.values.reduce(0, { $0 + $1.count }) > HTTPCookieStorage.maximum,
            let oldest = entries.min(by: { $0.value[0].number < $1.value[0].number })
        else { return }
        entries[oldest.key] = oldest.value.count == 1 ? nil : Array(oldest.value.dropFirst())
    }

    /// Returns whether a cookie that is only for https has the name and the domain of another, or one above or below it.
    fileprivate func isShadowing(_ cookie: HTTPCookie) -> Bool {
        entries.values.joined().contains { entry in
            entry.cookie.isSecure && entry.cookie.name == cookie.name
                && (entry.cookie.host == cookie.host || entry.cookie.host.hasSuffix("." + cookie.host)
                    || cookie.host.hasSuffix("." + entry.cookie.host))
        }
    }
}

extension HTTPCookieStorage: CookieStorage {
    package func field(for url: String) -> String? {
        guard state.withLock({ !$0.entries.isEmpty }), let url = URL(string: url) else { return nil }
        return HTTPCookie.field(cookies(for: url) ?? [])
    }

    package func keep(_ fields: [String], from url: String) {
        guard let origin = URL(string: url).flatMap({ CookieOrigin($0) }), cookieAcceptPolicy != .never else { return }
        let now = now()
        for cookie in fields.compactMap({ HTTPCookie(setCookie: $0, for: origin, now: now) }) {
            state.withLock { state in
                // Without TLS anyone may have set it, so it replaces no cookie that is only for https.
                if origin.isSecure || !state.isShadowing(cookie) { state.set(cookie, now) }
            }
        }
    }
}
