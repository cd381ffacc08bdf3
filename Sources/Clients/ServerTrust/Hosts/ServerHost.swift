import LinuxSupport

/// The host of a connection: a host name or an IP address.
public struct ServerHost: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case name(DNSName)
        /// 4 or 16 bytes in network byte order.
        case address([UInt8])
    }

    let form: Form

    /// Parses a host name or an IP address, as it appears in a URL. Names in any script are converted to A-labels (RFC
    /// 5891). One trailing dot is permitted. An IPv6 address may be in brackets, and its zone is removed.
    ///
    /// - Throws: ``TrustFailure/invalidHost(_:)`` for any other text, including incomplete addresses (`127.1`) and
    ///   invalid labels.
    public init(_ text: String) throws(TrustFailure) {
        if let address = Self.address(text) {
            form = .address(address.bytes)
        } else if let name = DNSName(text) {
            form = .name(name)
        } else {
            throw .invalidHost(text)
        }
    }

    /// A Boolean value that indicates whether the host is an IP address. No Server Name Indication is sent for
    /// addresses (RFC 6066, 3).
    public var isAddress: Bool {
        guard case .address = form else { return false }
        return true
    }

    private static func address(_ text: String) -> WireAddress? {
        var text = text[...]
        if text.first == "[", text.last == "]" {
            text = text.dropFirst().dropLast()
            guard text.contains(":") else { return nil }
        }
        if text.contains(":"), let percent = text.unicodeScalars.firstIndex(of: "%") { text = text[..<percent] }
        // The C function that parses the address stops at a zero byte.
        guard !text.utf8.contains(0) else { return nil }
        return WireAddress(String(text))
    }
}

extension ServerHost: CustomStringConvertible {
    /// The name in lower case with A-labels and without a trailing dot, or the canonical text of the address.
    public var description: String {
        switch form {
        case .name(let name): name.description
        case .address(let bytes): WireAddress(bytes: bytes)?.description ?? ""
        }
    }
}

/// A host name in the form in which it is compared: labels in lower case ASCII, A-labels for other scripts, no trailing
/// dot (RFC 1034, 3.5; RFC 5890).
struct DNSName: Hashable, Sendable {
    let labels: [String]

    /// Parses a host name. Returns nil if the text is not one. A last label of digits is refused, because the text is
    /// an invalid IPv4 address (RFC 1123, 2.1).
    init?(_ text: String) {
        guard let ascii = IDNA.ascii(text) else { return nil }
        self.init(ascii: ascii, allowsFinalDot: true)
    }

    /// Creates a name from labels that are known to be valid.
    init(checked labels: [String]) {
        self.labels = labels
    }

    init?(ascii: some StringProtocol, allowsFinalDot: Bool) {
        // Checked before lowercasing, because lowercasing converts the Kelvin sign to the ASCII letter k.
        guard (1...254).contains(ascii.utf8.count), ascii.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var labels = ascii.split(at: ".", omittingEmptySubsequences: false).map { $0.lowercased() }
        if allowsFinalDot, labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        let length = labels.reduce(labels.count - 1) { $0 + $1.utf8.count }
        guard length <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last else { return nil }
        guard !last.utf8.allSatisfy({ Self.digits.contains($0) }), !Self.isHexadecimalNumber(last) else { return nil }
        self.labels = labels
    }

    /// Returns whether a dNSName of a certificate matches this name (RFC 9525, 6.3). It matches if it is the same name,
    /// or if its left-most label is `*` and stands for exactly one label. At least two labels must follow the `*`,
    /// because a wildcard for a top-level domain is never legitimate.
    func isMatched(byCertificate pattern: String) -> Bool {
        if pattern.hasPrefix("*.") {
            guard let parent = DNSName(ascii: pattern.dropFirst(2), allowsFinalDot: false) else { return false }
            return parent.labels.count >= 2 && labels.count == parent.labels.count + 1 && isBelow(parent)
        }
        return DNSName(ascii: pattern, allowsFinalDot: false) == self
    }

    /// Returns whether this is a proper subdomain of another name.
    func isBelow(_ other: DNSName) -> Bool {
        labels.count > other.labels.count && labels.suffix(other.labels.count).elementsEqual(other.labels)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Returns whether a label consists of letters, digits, `-` and `_`. Host names may not contain `_`, but some names
    /// in use do.
    private static func isLabel(_ label: String) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.utf8.allSatisfy { byte in
            digits.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// Returns whether a label is a hexadecimal number such as `0x7f`, which `inet_aton(3)` parses as an address.
    private static func isHexadecimalNumber(_ label: String) -> Bool {
        label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }
}

extension DNSName: CustomStringConvertible {
    var description: String { labels.joined(separator: ".") }
}

/// A pattern that matches hosts.
///
/// | Pattern | Matches |
/// |---|---|
/// | `example.com`, `192.0.2.1`, `2001:db8::1` | this host |
/// | `*.example.com` | names with one more label; not `example.com` |
/// | `**.example.com` | `example.com` and all its subdomains |
///
/// If several patterns match, the most specific one applies: first the host itself, then the pattern with more labels,
/// then `*` before `**`.
public struct HostPattern: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case exactly(ServerHost)
        case oneLabelBelow(DNSName)
        case allBelow(DNSName)
    }

    let form: Form

    /// Parses a pattern.
    ///
    /// - Throws: ``TrustFailure/invalidPattern(_:)`` if the text is not one of the three forms. `*` alone is invalid,
    ///   because it would hide a forgotten host.
    public init(_ text: String) throws(TrustFailure) {
        if text.hasPrefix("**.") {
            form = .allBelow(try Self.domain(text.dropFirst(3), of: text))
        } else if text.hasPrefix("*.") {
            form = .oneLabelBelow(try Self.domain(text.dropFirst(2), of: text))
        } else {
            do {
                form = .exactly(try ServerHost(text))
            } catch {
                throw .invalidPattern(text)
            }
        }
    }

    private static func domain(_ domain: Substring, of text: String) throws(TrustFailure) -> DNSName {
        guard let name = DNSName(String(domain)) else { throw .invalidPattern(text) }
        return name
    }

    /// Returns whether the pattern matches a host.
    public func matches(_ host: ServerHost) -> Bool {
        Self.candidates(for: host).contains(self)
    }

    private init(form: Form) {
        self.form = form
    }

    /// Returns the patterns that match a host, the most specific first.
    static func candidates(for host: ServerHost) -> [HostPattern] {
        var candidates = [HostPattern(form: .exactly(host))]
        guard case .name(let name) = host.form else { return candidates }
        for dropped in 0..<name.labels.count {
            let domain = DNSName(checked: Array(name.labels.dropFirst(dropped)))
            if dropped == 1 { candidates.append(HostPattern(form: .oneLabelBelow(domain))) }
            candidates.append(HostPattern(form: .allBelow(domain)))
        }
        return candidates
    }
}

/// Values by host pattern. The most specific pattern applies.
struct HostTable<Value: Sendable>: Sendable {
    /// A function that is called before the patterns are compared. It gets the host as it is compared: lower case,
    /// A-labels, no trailing dot. It gets invalid hosts unchanged.
    private let lookup: (@Sendable (String) -> Value?)?
    private var values: [HostPattern: Value] = [:]
    /// The first invalid pattern, or the first two patterns that match the same hosts. If set, every lookup fails,
    /// because the intended value is ambiguous.
    private var fault: TrustFailure?

    init(_ entries: [String: Value], lookup: (@Sendable (String) -> Value?)?) {
        self.lookup = lookup
        var texts: [HostPattern: String] = [:]
        for (text, value) in entries.sorted(by: { $0.key < $1.key }) {
            do throws(TrustFailure) {
                let pattern = try HostPattern(text)
                if let other = texts.updateValue(text, forKey: pattern) { throw .equalPatterns(other, text) }
                values[pattern] = value
            } catch {
                fault = fault ?? error
            }
        }
    }

    /// Returns the value for a host; nil if no pattern matches.
    ///
    /// - Throws: `invalidHost`; `invalidPattern` or `equalPatterns` if the table was created with such patterns.
    func value(forHost host: String) throws(TrustFailure) -> Value? {
        if let value = lookup?((try? ServerHost(host))?.description ?? host) { return value }
        if let fault { throw fault }
        return HostPattern.candidates(for: try ServerHost(host)).lazy.compactMap { values[$0] }.first
    }
}
