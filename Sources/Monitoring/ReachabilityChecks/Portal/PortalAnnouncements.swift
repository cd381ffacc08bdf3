import Dispatch
import LinuxSupport
import Netlink
import NetworkReachability

/// The captive portal APIs that routers announce (option 37 of router advertisements, RFC 8910). Listening sends no packet and needs no
/// privilege. Thread-safe.
final class PortalAnnouncements: Sendable {
    private struct State {
        var servers: [UInt32: CheckOptions.Anchor] = [:]
        var notified: ContinuousClock.Instant?
        var isNotifying = false
        /// The namespace of the socket.
        var identity: NamespaceIdentity?
    }

    private let namespace: NetworkNamespace
    private let state = Locked(State())

    init(in namespace: NetworkNamespace) {
        self.namespace = namespace
    }

    /// The announced API of each interface, by interface index.
    var servers: [UInt32: CheckOptions.Anchor] { state.withLock { $0.servers } }

    /// True if the namespace was removed, or another one has its name. The socket keeps the namespace alive until the listening is
    /// cancelled.
    var hasLostNamespace: Bool { !namespace.leads(to: state.withLock(\.identity)) }

    /// Listens until the result is cancelled or released. Calls `changed` on `queue` when an API has changed. Opens the socket on a
    /// separate thread.
    ///
    /// - Returns: Nil if the kernel does not report these options.
    func listen(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let opened = try? Thread.run { [namespace] in
            (try? namespace.enter()).flatMap { try? (RouterOptionSocket(), NamespaceIdentity.current) }
        }
        guard let (socket, identity) = opened ?? nil else { return nil }
        state.withLock { state in
            // Announcements in another namespace are not used.
            if state.identity != identity { state.servers = [:] }
            state.identity = identity
        }
        return ReadSource.watch(socket.descriptor, of: socket, on: queue) { [weak self] in
            self?.take(socket.drain(), on: queue, changed)
        }
    }

    private func take(_ messages: [RouterOptions], on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) {
        var hasChanged = false
        for message in messages { hasChanged = take(message) || hasChanged }
        guard hasChanged else { return }
        // Each change starts a round, and any host on the link can send router advertisements, so changes are rate limited.
        let wait: Duration? = state.withLock { state in
            guard !state.isNotifying else { return nil }
            state.isNotifying = true
            return state.notified.map { max(.zero, Self.spacing - (.now - $0)) } ?? .zero
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait.nanoseconds))) { [weak self] in
            self?.state.withLock { ($0.notified, $0.isNotifying) = (.now, false) }
            changed()
        }
    }

    /// Processes a router advertisement.
    ///
    /// - Returns: Whether an API has changed.
    func take(_ message: RouterOptions) -> Bool {
        var hasChanged = false
        for text in RouterOption.portals(in: message.bytes) {
            // A network without a portal may announce this URN (RFC 8910, section 2).
            let server = text == Self.unrestricted ? nil : try? CheckOptions.Anchor(text)
            hasChanged =
                state.withLock { state in
                    defer { state.servers[message.interface] = server }
                    return state.servers[message.interface] != server
                } || hasChanged
        }
        return hasChanged
    }

    private static let unrestricted = "urn:ietf:params:capport:unrestricted"
    private static let spacing = Duration.seconds(2)
}

/// The response of a captive portal API (RFC 8908).
struct PortalInformation: Hashable, Sendable {
    var isCaptive: Bool
    /// The page on which a user gets access to the network.
    var userPortalURL: String?
    var secondsRemaining: UInt64?

    init(isCaptive: Bool, userPortalURL: String? = nil, secondsRemaining: UInt64? = nil) {
        self.isCaptive = isCaptive
        self.userPortalURL = userPortalURL
        self.secondsRemaining = secondsRemaining
    }

    /// The maximum size of a response in bytes. Longer responses are refused.
    static let maximumLength = 8 * 1024

    /// Parses `application/captive+json`. Members of wrong types are ignored, except `captive`, which is required.
    init(json bytes: [UInt8]) throws(PortalFault) {
        guard bytes.count <= Self.maximumLength else { throw .tooLong }
        guard let value = JSONValue(bytes) else { throw .notJSON }
        guard case .object(let members) = value else { throw .notAnObject }
        guard case .bool(let isCaptive) = members["captive"] else { throw .captiveMissing }
        self.isCaptive = isCaptive
        userPortalURL = members["user-portal-url"]?.text
        secondsRemaining = members["seconds-remaining"]?.count
    }
}

/// The reason why a response is not one of a captive portal API.
enum PortalFault: String, Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong, notJSON, notAnObject, captiveMissing

    var description: String {
        switch self {
        case .tooLong: "the captive portal API's answer is longer than \(PortalInformation.maximumLength) bytes"
        case .notJSON: "the captive portal API's answer is not JSON (RFC 8259)"
        case .notAnObject: "the captive portal API's answer is not a JSON object"
        case .captiveMissing: "the captive portal API's answer has no Boolean member captive (RFC 8908, section 5)"
        }
    }
}

/// Options of router advertisements (RFC 4861, section 4.6).
enum RouterOption {
    /// Returns the captive portal APIs (option 37, RFC 8910). The length of an option is in units of eight bytes. Malformed options are
    /// ignored.
    static func portals(in bytes: some Collection<UInt8>) -> [String] {
        var (portals, rest): ([String], ArraySlice<UInt8>) = ([], Array(bytes)[...])
        while let kind = rest.first, rest.count >= 8 {
            let length = Int(rest[rest.startIndex + 1]) * 8
            guard length > 0, length <= rest.count else { break }
            let content = rest.prefix(length).dropFirst(2)
            let text = content.prefix { $0 != 0 }
            // A URI consists of ASCII characters without spaces (RFC 3986). Zero bytes fill the rest.
            if kind == 37, !text.isEmpty, text.allSatisfy({ 0x21...0x7e ~= $0 }),
                content.dropFirst(text.count).allSatisfy({ $0 == 0 })
            {
                portals.append(String(decoding: text, as: UTF8.self))
            }
            rest = rest.dropFirst(length)
        }
        return portals
    }
}

/// The captive portal API (RFC 8910) that systemd-networkd received by DHCP or from a router. Version 254 and later writes it to files that
/// any user may read.
enum NetworkdFiles {
    private static let directory = "/run/systemd/netif"

    /// Reads the files about an interface.
    ///
    /// - Parameter source: The source address of packets on that interface.
    /// - Returns: Nil if there is no API, or if the files describe an interface of another namespace.
    static func portal(ofInterface index: UInt32, source: IPAddress?) -> CheckOptions.Anchor? {
        guard let lease = TextFile.read("\(directory)/leases/\(index)", limit: 64 << 10),
            let link = TextFile.read("\(directory)/links/\(index)", limit: 64 << 10)
        else { return nil }
        return portal(lease: lease, link: link, source: source)
    }

    /// Parses the files. An interface of another namespace may have the same index, so the lease must be for the source address.
    static func portal(lease: String, link: String, source: IPAddress?) -> CheckOptions.Anchor? {
        guard let source, value("ADDRESS", lease).flatMap({ IPAddress($0) }) == source else { return nil }
        return value("CAPTIVE_PORTAL", link).flatMap { try? CheckOptions.Anchor($0) }
    }

    private static func value(_ key: String, _ text: String) -> String? {
        for line in text.split(at: "\n") where line.hasPrefix("\(key)=") {
            return String(line.dropFirst(key.utf8.count + 1))
        }
        return nil
    }
}
