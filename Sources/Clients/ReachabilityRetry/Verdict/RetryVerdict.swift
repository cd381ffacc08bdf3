/// The reachability of a target at one moment.
public struct RetryVerdict: Hashable, Sendable {
    /// Whether a target can be reached.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// Nothing is known.
        case unknown
        /// Packets would not get through.
        case notReachable
        /// Packets would get through.
        case reachable
    }

    /// Whether packets would get through.
    public var status: Status

    /// The reason why not, or why nothing is known.
    public var reason: Reason?

    /// The number of the path, which grows with each change; 0 if nothing is known.
    public var generation: UInt64

    /// The source address of packets; nil if it is not known.
    public var source: String?

    /// Nothing is known yet.
    public static let unknown = RetryVerdict(status: .unknown)

    /// Whether no attempt can succeed until the network changes. That does not follow from a name that is not resolved: it may not exist, and
    /// then no network would end the wait.
    var isOffline: Bool { status == .notReachable && !lacksAddress }

    /// Whether the name is not resolved.
    package var lacksAddress: Bool { reason == .nameNotResolved }

    /// A verdict.
    public init(status: Status, reason: Reason? = nil, generation: UInt64 = 0, source: String? = nil) {
        self.status = status
        self.reason = reason
        self.generation = generation
        self.source = source
    }
}

extension RetryVerdict: CustomStringConvertible {
    /// For example `not reachable, no carrier`.
    public var description: String { reason.map { "\(status), \($0)" } ?? status.description }
}

extension RetryVerdict.Status: CustomStringConvertible {
    /// A short text for logs and terminals.
    public var description: String { self == .notReachable ? "not reachable" : rawValue }
}

extension RetryVerdict {
    /// Why a target is not reachable, or why nothing is known of it. Reasons with the same name are equal.
    public struct Reason: RawRepresentable, Sendable {
        /// The name, as JSON output has it: `noCarrier`, for example.
        public let rawValue: String

        private let words: String

        /// A reason whose text is its name.
        public init(rawValue: String) {
            self.init(rawValue: rawValue, words: rawValue)
        }

        /// A reason with a text.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - words: The text for people, for example `no carrier`.
        public init(rawValue: String, words: String) {
            self.rawValue = rawValue
            self.words = words
        }

        /// The name service does not know the name, or could not be queried. It is the only reason that changes how retries wait.
        public static let nameNotResolved = Reason(rawValue: "nameNotResolved", words: "name not resolved")

        /// The name service has not answered yet.
        package static let resolving = Reason(rawValue: "resolving")
    }
}

extension RetryVerdict.Reason: Hashable, CustomStringConvertible {
    /// Whether they have the same name.
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }

    /// A few words for people, for example `no carrier`.
    public var description: String { words }
}
