import LinuxSupport
public import NetworkReachability
public import ServerTrust
import ServerTrustNIO

/// The options of a check, and the hosts that it may contact.
public struct CheckOptions: Sendable {
    /// A URL of the user that proves the internet. It answers 204, and repeats the header field `Reachability-Challenge: NONCE` as
    /// `Reachability-Response: NONCE`. A verified TLS handshake proves it too.
    public struct Anchor: Hashable, Sendable {
        let url: TrustedHTTPURL

        /// Reads `http://` or `https://`, a host, and the rest.
        ///
        /// - Throws: ``CheckInputError``.
        public init(_ url: String) throws(CheckInputError) {
            self.url = try CheckTarget.url(url)
        }

        var host: String { "\(url.host)" }
    }

    /// The network namespace of packets and of the files in `/etc/netns`.
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

    /// The servers that prove the internet. All URLs of one host are one anchor.
    public var anchors: [Anchor] = []
    /// The addresses of names that are not looked up.
    public var resolutions: [String: [IPAddress]] = [:]
    /// The expected addresses of names. A DNS server with others is wrong.
    public var expectedAddresses: [String: Set<IPAddress>] = [:]
    /// The captive portal API (RFC 8908). Nil for the one that the network announces (RFC 8910): ``NetworkCheck/verdicts`` listens to
    /// routers, and a single round reads the files of systemd-networkd.
    public var portalAPI: Anchor?
    /// The announced APIs, by the index of the interface.
    var announcedPortals: [UInt32: Anchor] = [:]
    /// Additional requirements for servers of `https` targets and anchors, for example pins. Unless it names other trust anchors, and for
    /// the captive portal API, the system's trust store counts. Nil for a valid certificate alone.
    ///
    /// No server is asked about revocation. A policy that requires it has stapled responses and lists.
    public var policy: TrustPolicyFile?
    /// The DNS servers; nil for those that are configured.
    public var nameServers: [IPAddress]?
    /// The time after which a round begins no more probes. A probe that began late may take 1 s longer. Finding out that only large
    /// packets are lost takes up to 5.2 s longer.
    public var timeLimit: Duration = .milliseconds(3400)

    /// Whether bytes cost money, so that one DNS server and, where possible, one family are probed, without repetitions.
    var isThrifty = false

    /// The pauses of a round. Tests change them, so that the load of the machine does not change the probes.
    struct Pauses: Hashable, Sendable {
        /// How long targets may take before the uplink is probed too.
        var targetsFirst = Duration.milliseconds(250)
        /// How long a target may take before its DNS servers, and its host, are probed too.
        var companions = Duration.milliseconds(700)
    }

    var pauses = Pauses()

    /// All at their defaults.
    public init() {}

    /// Whether only the network itself is contacted: the gateway, the DNS servers, routers, and an unassigned address.
    var isPrivate: Bool { anchors.isEmpty }

    /// Returns the options for the kernel's paths.
    func pathOptions(over family: AddressFamily?) -> NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = networkNamespace
        options.firewallMark = firewallMark
        options.interface = interface
        options.sourceAddress = sourceAddress
        options.family = family
        return options
    }

    /// Returns the options if bytes cost money: one anchor without TLS, and no captive portal API, which requires TLS.
    ///
    /// - Parameter turn: The number of the round. Anchors take turns.
    func thrifty(_ turn: Int) -> CheckOptions {
        var options = self
        let plain = anchors.filter { $0.url.scheme == .http }
        options.anchors = plain.isEmpty ? [] : [plain[turn % plain.count]]
        options.portalAPI = nil
        options.isThrifty = true
        return options
    }

    /// Returns the given addresses of a name, if there are any.
    func resolution(of name: String) -> [IPAddress]? {
        let name = Self.canonical(name)
        return resolutions.first { Self.canonical($0.key) == name }?.value
    }

    static func canonical(_ name: String) -> String { (try? ServerHost(name)).map { "\($0)" } ?? name }
}
