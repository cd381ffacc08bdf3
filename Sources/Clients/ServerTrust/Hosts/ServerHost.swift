import LinuxSupport

/// Whom a connection is meant for: a host name or an IP address.
public struct ServerHost: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case name(DNSName)
        /// Four or sixteen bytes in network order.
        case address([UInt8])
    }

    let form: Form

    /// Reads a host name or an address as it stands in a URL: letters of every script, which become A-labels (RFC 5891); one dot at
    /// the end; an IPv6 address in brackets or without, its zone is left away.
    ///
    /// - Throws: ``TrustFailure/invalidHost(_:)`` for everything else, so also for `127.1` and for labels that are none.
    public init(_ text: String) throws(TrustFailure) {
        if let address = Self.address(text) {
            form = .address(address.bytes)
        } else if let name = DNSName(text) {
            form = .name(name)
        } else {
            throw .invalidHost(text)
        }
    }

    /// Whether it is an IP address: then there is no Server Name Indication (RFC 6066, section 3).
    public var isAddress: Bool {
        guard case .address = form else { return false }
        return true
    }

    /// As hosts are compared: lower case, A-labels, no dot at the end; a text that is no host as it is.
    static func canonical(_ text: String) -> String { (try? ServerHost(text))?.description ?? text }

    private static func address(_ text: String) -> WireAddress? {
        var text = text[...]
        if text.first == "[", text.last == "]" {
            text = text.dropFirst().dropLast()
            guard text.contains(":") else { return nil }
        }
        if text.contains(":"), let percent = text.unicodeScalars.firstIndex(of: "%") { text = text[..<percent] }
        // What is behind a zero byte would not be read.
        guard !text.utf8.contains(0) else { return nil }
        return WireAddress(String(text))
    }
}

extension ServerHost: CustomStringConvertible {
    /// The name in lower case and A-labels without a dot at the end, or the canonical text of the address.
    public var description: String {
        switch form {
        case .name(let name): name.description
        case .address(let bytes): WireAddress(bytes: bytes)?.description ?? ""
        }
    }
}

/// A host name as it is compared: labels in lower case ASCII, A-labels for other scripts, no dot at the end (RFC 1034, 3.5; RFC 5890).
struct DNSName: Hashable, Sendable {
    let labels: [String]

    /// Nil when the text is no host name. A last label of digits alone is an address gone wrong (RFC 1123, 2.1).
    init?(_ text: String) {
        guard let ascii = IDNA.ascii(text) else { return nil }
        self.init(ascii: ascii, allowsFinalDot: true)
    }

    /// Labels that have been checked.
    init(checked labels: [String]) {
        self.labels = labels
    }

    init?(ascii: String, allowsFinalDot: Bool) {
        // Not after lowering: the Kelvin sign would become a k.
        guard (1...254).contains(ascii.utf8.count), ascii.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var labels = ascii.split(at: ".", omittingEmptySubsequences: false).map { $0.lowercased() }
        if allowsFinalDot, labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        let length = labels.reduce(labels.count - 1) { $0 + $1.utf8.count }
        guard length <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last else { return nil }
        guard !last.utf8.allSatisfy({ Self.digits.contains($0) }), !Self.isHexadecimalNumber(last) else { return nil }
        self.labels = labels
    }

    /// Whether a dNSName of a certificate stands for this name (RFC 9525, 6.3): the same name, or `*` as the whole left-most label
    /// in the place of exactly one label of this. There must be two labels behind it: nobody owns a whole top-level domain.
    func isMatched(byCertificate pattern: String) -> Bool {
        if pattern.hasPrefix("*.") {
            guard let parent = DNSName(ascii: String(pattern.dropFirst(2)), allowsFinalDot: false) else { return false }
            return parent.labels.count >= 2 && labels.count == parent.labels.count + 1 && isBelow(parent)
        }
        return DNSName(ascii: pattern, allowsFinalDot: false) == self
    }

    /// Whether this is a proper subdomain of another.
    func isBelow(_ other: DNSName) -> Bool {
        labels.count > other.labels.count && labels.suffix(other.labels.count).elementsEqual(other.labels)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Letters, digits, `-` and, though no host name should have it, `_`, which names in use have.
    private static func isLabel(_ label: String) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.utf8.allSatisfy { byte in
            digits.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// `0x7f`, which `inet_aton(3)` takes for an address.
    private static func isHexadecimalNumber(_ label: String) -> Bool {
        label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }
}

extension DNSName: CustomStringConvertible {
    var description: String { labels.joined(separator: ".") }
}

/// Which hosts something is set for.
///
/// | Pattern | Hosts |
/// |---|---|
/// | `example.com`, `192.0.2.1`, `2001:db8::1` | that one |
/// | `*.example.com` | those with one label more, not `example.com` |
/// | `**.example.com` | `example.com` and all below it |
///
/// The most specific of several decides: the host itself, then the pattern with more labels, then `*` before `**`.
public struct HostPattern: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case exactly(ServerHost)
        case oneLabelBelow(DNSName)
        case allBelow(DNSName)
    }

    let form: Form

    /// - Throws: ``TrustFailure/invalidPattern(_:)`` when the text is none of the three. `*` alone is none: it would hide a
    ///   forgotten host.
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

    /// Whether the pattern stands for a host.
    public func matches(_ host: ServerHost) -> Bool {
        Self.candidates(for: host).contains(self)
    }

    private init(form: Form) {
        self.form = form
    }

    /// The patterns that would match a host, the most specific first.
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

/// Values by patterns of hosts; the most specific pattern decides.
struct HostTable<Value: Sendable>: Sendable {
    private var values: [HostPattern: Value] = [:]
    /// The first text that is no pattern, or the first two that are the same. A table with such answers nothing: what was meant is not
    /// known.
    private var fault: TrustFailure?

    init(_ entries: [String: Value]) {
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

    /// The value for a host, nil if no pattern matches.
    ///
    /// - Throws: `invalidHost`; `invalidPattern` or `equalPatterns` when the table was made with such.
    func value(forHost host: String) throws(TrustFailure) -> Value? {
        if let fault { throw fault }
        return HostPattern.candidates(for: try ServerHost(host)).lazy.compactMap { values[$0] }.first
    }
}
