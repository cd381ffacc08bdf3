import LinuxSupport
public import NetworkReachability
public import ServerTrust
import ServerTrustNIO

/// How a check is made, and whom it may contact.
public struct CheckOptions: Sendable {
    /// A URL of the user's that proves the internet: it answers 204, and says `Reachability-Response: NONCE` when it is asked with
    /// `Reachability-Challenge: NONCE`. A verified TLS handshake proves it too.
    public struct Anchor: Hashable, Sendable {
        let url: TrustedHTTPURL

        /// Reads `http://` or `https://`, a host, and the rest.
        ///
        /// - Throws: ``CheckInputError`` where it is none.
        public init(_ url: String) throws(CheckInputError) {
            self.url = try CheckTarget.url(url)
        }

        var host: String { "\(url.host)" }
    }

    /// The namespace packets are sent in, and the files of `/etc/netns` it has.
    public var networkNamespace: NetworkNamespace = .current
    /// The only interface packets leave by (SO_BINDTODEVICE of `socket(7)`).
    public var interface: String?
    /// The source address of packets.
    public var sourceAddress: IPAddress?
    /// The mark that rules and firewalls see (SO_MARK of `socket(7)`), which needs CAP_NET_ADMIN or CAP_NET_RAW; 0 for none.
    public var firewallMark: UInt32 = 0
    /// The only family packets are sent over; nil for both.
    public var family: Family?

    /// A family of addresses. The raw value is the name in JSON output.
    public enum Family: String, Hashable, Sendable, CaseIterable, Codable {
        case ipv4 = "IPv4"
        case ipv6 = "IPv6"

        init(_ family: AddressFamily) { self = family == .ipv4 ? .ipv4 : .ipv6 }
    }

    var addressFamily: AddressFamily? { family.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

    /// What proves the internet. All URLs of one host are one anchor.
    public var anchors: [Anchor] = []
    /// Names that are not asked in DNS, each with its addresses.
    public var resolutions: [String: [IPAddress]] = [:]
    /// Names whose addresses are known: a DNS server that has others is wrong.
    public var expectedAddresses: [String: Set<IPAddress>] = [:]
    /// The network's own server that tells of captivity (RFC 8908). Nil for the one that the network names (RFC 8910): as long as
    /// ``NetworkCheck/verdicts`` are read, routers are listened to; a single round knows what systemd-networkd has written down.
    public var portalAPI: Anchor?
    /// What was heard of that, by the index of the interface.
    var announcedPortals: [UInt32: Anchor] = [:]
    /// What servers of `https` targets and anchors must show besides: pins, for example. Where it names no other anchors, and for the
    /// network's own server, those of the system count. Nil for a valid certificate alone.
    ///
    /// Nobody is asked about revocation: a policy that needs an answer has what the server staples, and lists.
    public var policy: TrustPolicyFile?
    /// The DNS servers; nil for those that are configured.
    public var nameServers: [IPAddress]?
    /// The time after which a round begins no more probes. A probe that began late may take 1 s longer. Finding out that only large
    /// packets are lost takes up to 5.2 s longer.
    public var timeLimit: Duration = .milliseconds(3400)

    /// Whether bytes cost money: one DNS server, each thing once, one family where one will do.
    var isThrifty = false

    /// Whatever the user did not name.
    public init() {}

    /// Whether nobody is contacted but the network itself: the gateway, the DNS servers, routers, and an address nobody has.
    var isPrivate: Bool { anchors.isEmpty }

    /// For the kernel's paths.
    func pathOptions(over family: AddressFamily?) -> NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = networkNamespace
        options.firewallMark = firewallMark
        options.interface = interface
        options.sourceAddress = sourceAddress
        options.family = family
        return options
    }

    /// The same where bytes cost money: one anchor, without TLS; the network's own server is asked over TLS, and so is not.
    ///
    /// - Parameter turn: which round it is: anchors take turns.
    func thrifty(_ turn: Int) -> CheckOptions {
        var options = self
        let plain = anchors.filter { $0.url.scheme == .http }
        options.anchors = plain.isEmpty ? [] : [plain[turn % plain.count]]
        options.portalAPI = nil
        options.isThrifty = true
        return options
    }

    /// The addresses that were given for a name, if any were.
    func resolution(of name: String) -> [IPAddress]? {
        let name = Self.canonical(name)
        return resolutions.first { Self.canonical($0.key) == name }?.value
    }

    static func canonical(_ name: String) -> String { (try? ServerHost(name)).map { "\($0)" } ?? name }
}
