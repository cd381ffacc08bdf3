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
