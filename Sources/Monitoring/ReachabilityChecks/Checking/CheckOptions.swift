import LinuxSupport
public import NetworkReachability
public import ServerTrust
import ServerTrustNIO

/// The options of a check, and the hosts that it may contact.
public struct CheckOptions: Sendable {
    /// A URL under the user's control whose answer proves internet access. The server answers with status 204, and echoes the header field
    /// `Reachability-Challenge: NONCE` as `Reachability-Response: NONCE`. A verified TLS handshake is also a proof.
    public struct Anchor: Hashable, Sendable {
        let url: TrustedHTTPURL

        /// Parses a URL of `http` or `https`.
        ///
        /// - Throws: ``CheckInputError`` if the text is not such a URL.
        public init(_ url: String) throws(CheckInputError) {
            self.url = try CheckTarget.url(url)
        }

        var host: String { "\(url.host)" }
    }

    /// The network namespace in which packets are sent, and whose files in `/etc/netns` are used.
    public var networkNamespace: NetworkNamespace = .current
    /// The interface to which sockets are bound (SO_BINDTODEVICE of `socket(7)`); nil for any interface.
    public var interface: String?
    /// The source address of packets; nil for the kernel's choice.
    public var sourceAddress: IPAddress?
    /// The firewall mark of packets (SO_MARK of `socket(7)`); 0 for none. Setting it requires CAP_NET_ADMIN or CAP_NET_RAW.
    public var firewallMark: UInt32 = 0
    /// The address family of packets; nil for both.
    public var family: Family?

    /// An address family. The raw value is the name in JSON output.
    public enum Family: String, Hashable, Sendable, CaseIterable, Codable {
        case ipv4 = "IPv4"
        case ipv6 = "IPv6"

        init(_ family: AddressFamily) { self = family == .ipv4 ? .ipv4 : .ipv6 }
    }

    var addressFamily: AddressFamily? { family.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

    /// The servers whose answers prove internet access. All URLs of one host count as one anchor.
    public var anchors: [Anchor] = []
    /// Fixed addresses of names, which are not looked up. The keys are names.
    public var resolutions: [String: [IPAddress]] = [:]
    /// The expected addresses of names. A DNS server that returns other addresses is at fault.
    public var expectedAddresses: [String: Set<IPAddress>] = [:]
    /// The captive portal API (RFC 8908). If nil, the API that the network announces (RFC 8910) is used: ``NetworkCheck/verdicts`` listens
    /// to router advertisements, and a single round reads the files of systemd-networkd.
    public var portalAPI: Anchor?
    /// The announced captive portal APIs, by interface index.
    var announcedPortals: [UInt32: Anchor] = [:]
    /// Additional requirements for the servers of `https` targets and anchors, for example pins. If nil, a valid certificate is required.
    /// The system's trust store applies unless the policy names other trust anchors, and always for the captive portal API.
    ///
    /// Revocation is checked offline: no server is contacted, and only stapled responses and lists of the policy are used.
    public var policy: TrustPolicyFile?
    /// The DNS servers to query. If nil, the configured servers.
    public var nameServers: [IPAddress]?
    /// The time after which a round starts no more probes. The default is 3.4 s. A probe that started late may take 1 s longer. The test
    /// for lost large packets takes up to 5.2 s longer, and a mail server has up to 7 s more for its
    /// greeting.
    public var timeLimit: Duration = .milliseconds(3400)

    /// True on a metered line. Only one DNS server and, if possible, one family are probed, without retries.
    var isThrifty = false

    /// The pauses of a round. Tests change them so that the load of the machine does not change the probes.
    struct Pauses: Hashable, Sendable {
        /// The time that targets have to answer before the uplink is probed too. The default is 250 ms.
        var targetsFirst = Duration.milliseconds(250)
        /// The time that a target has to answer before its DNS servers and its host are probed too. The default is 700 ms.
        var companions = Duration.milliseconds(700)
    }

    var pauses = Pauses()

    /// Creates options with default values.
    public init() {}

    /// True if only the local network is contacted: the gateway, the DNS servers, routers, and an unassigned address.
    var isPrivate: Bool { anchors.isEmpty }

    /// Returns the options for the kernel's paths over a family.
    func pathOptions(over family: AddressFamily?) -> NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = networkNamespace
        options.firewallMark = firewallMark
        options.interface = interface
        options.sourceAddress = sourceAddress
        options.family = family
        return options
    }

    /// Returns the options for a metered line: one anchor without TLS, and no captive portal API, because that requires TLS.
    ///
    /// - Parameter turn: The number of the round. Rounds use the anchors in turn.
    func metered(_ turn: Int) -> CheckOptions {
        var options = self
        let plain = anchors.filter { $0.url.scheme == .http }
        options.anchors = plain.isEmpty ? [] : [plain[turn % plain.count]]
        options.portalAPI = nil
        options.isThrifty = true
        return options
    }

    /// Returns the fixed addresses of a name; nil if it has none.
    func resolution(of name: String) -> [IPAddress]? {
        let name = Self.canonical(name)
        return resolutions.first { Self.canonical($0.key) == name }?.value
    }

    static func canonical(_ name: String) -> String { (try? ServerHost(name)).map { "\($0)" } ?? name }
}
