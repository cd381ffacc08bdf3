import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The pages that were made last. Every open tab fetches its page again after each event, so the same page is needed many times.
///
/// A page is made again after an event, after a second, and if the history has another fault. Thread-safe.
final class PageCache: Sendable {
    /// What distinguishes pages.
    struct Key: Hashable {
        let page: DashboardPage
        let query: [String: String]
        let isCompressed: Bool
    }

    /// The state that a page was made of.
    struct Version: Equatable {
        /// The number of the last event.
        let event: UInt64
        let fault: HistoryFault?
        let time: LedgerInstant

        /// Returns true if a page of this version may be sent in place of a page of another version.
        fileprivate func serves(_ other: Version) -> Bool {
            let age = other.time - time
            return event == other.event && fault == other.fault && age >= .zero && age < PageCache.lifetime
        }
    }

    private static let lifetime = Duration.seconds(1)
    /// The maximum number of bytes of all bodies.
    private static let sizeLimit = 4 << 20

    private let pages = Locked<[Key: (version: Version, answer: WebAnswer)]>([:])

    /// Returns a page that was made of the same state.
    func answer(_ key: Key, _ version: Version) -> WebAnswer? {
        pages.withLock { pages in
            pages[key].flatMap { $0.version.serves(version) ? $0.answer : nil }
        }
    }

    /// Keeps a page, and forgets those that have become old.
    func keep(_ answer: WebAnswer, _ key: Key, _ version: Version) {
        guard answer.body.count <= Self.sizeLimit else { return }
        pages.withLock { pages in
            pages[key] = nil
            pages = pages.filter { $0.value.version.serves(version) }
            let size = pages.values.reduce(0) { $0 + $1.answer.body.count }
            if size + answer.body.count > Self.sizeLimit { pages = [:] }
            pages[key] = (version, answer)
        }
    }
}

extension API {
    /// A page, made now or a moment ago.
    func cachedPage(_ page: DashboardPage, _ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        // These show the kernel's and the server's own state, which changes without an event.
        if page == .network || page == .service { return try self.page(page, query) }
        let snapshot = service.snapshot
        let key = PageCache.Key(page: page, query: request.query, isCompressed: request.acceptsGzip)
        let fault = history?.status.fault
        let version = PageCache.Version(event: snapshot.books.lastNumber, fault: fault, time: snapshot.now)
        if let known = pages.answer(key, version) { return known }
        let answer = try self.page(page, query).compressed(for: request)
        if answer.status == .ok { pages.keep(answer, key, version) }
        return answer
    }
}
