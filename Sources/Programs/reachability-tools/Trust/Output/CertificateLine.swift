import CommandLineSupport
import LinuxSupport
import ServerTrust
import X509

/// One certificate, as it is told of.
struct CertificateLine: Sendable {
    enum Kind: String, Sendable {
        case leaf, intermediate, root
    }

    let certificate: TrustCertificate
    let kind: Kind
    /// Whether the server sent it; otherwise it is an anchor.
    let isSent: Bool
    /// Whether pins of it count; nil if no chain is valid.
    let isOnChain: Bool?
    let now: TrustTime

    /// Those a server sent, in its order, then what else is on the validated chain.
    static func all(of trust: ServerTrust, chain: ValidatedChain?) -> [CertificateLine] {
        let others = (chain?.certificates ?? []).filter { !trust.certificates.contains($0) }
        let all = trust.certificates.map { ($0, true) } + others.map { ($0, false) }
        return all.map { certificate, isSent in
            let kind: Kind =
                certificate == trust.leaf ? .leaf : certificate.isSelfIssued ? .root : .intermediate
            let isOnChain = chain.map { $0.certificates.contains(certificate) }
            return CertificateLine(
                certificate: certificate,
                kind: kind,
                isSent: isSent,
                isOnChain: isOnChain,
                now: trust.time
            )
        }
    }

    var subject: String {
        let subject = certificate.x509.subject
        return subject.isEmpty ? certificate.description : subject.readable
    }
    var issuer: String { certificate.x509.issuer.readable }
    var pin: String { PublicKeyPin(certificate).description }

    private var left: TimeLeft { TimeLeft(end: certificate.notAfter, now: now) }

    /// Whose it is, who says so, and for how long.
    var texts: [String] {
        let issued = certificate.isSelfIssued ? "issued by itself" : "issued by \(issuer)"
        let note = isOnChain == false ? ", not on the chain" : isSent ? "" : ", not sent"
        return [subject + note, "\(issued), \(left), \(certificate.notAfter)", pin]
    }

    var json: JSONObject {
        var object = JSONObject()
        object.add("kind", kind.rawValue)
        object.add("subject", subject)
        object.add("issuer", issuer)
        object.add("names", certificate.subjectAlternativeNames.map(\.printable))
        object.add("notBefore", certificate.notBefore.description)
        object.add("notAfter", certificate.notAfter.description)
        object.add("secondsLeft", left.seconds)
        object.add("sent", isSent)
        object.add("onChain", isOnChain)
        object.add("pin", pin)
        return object
    }
}

/// How long a certificate is still valid, in words: `expires in 89 days`.
struct TimeLeft: CustomStringConvertible {
    let end: TrustTime
    let now: TrustTime

    /// Negative when it is over.
    var seconds: Int64 { end.secondsSinceEpoch - now.secondsSinceEpoch }

    var description: String {
        seconds < 0 ? "expired \(Self.words(-seconds)) ago" : "expires in \(Self.words(seconds))"
    }

    /// In the largest unit of which there are two.
    private static func words(_ seconds: Int64) -> String {
        let units: [(name: String, seconds: Int64)] = [
            ("years", 365 * 86_400), ("days", 86_400), ("hours", 3600), ("minutes", 60),
        ]
        guard let unit = units.first(where: { seconds >= 2 * $0.seconds }) else { return "\(seconds) s" }
        return "\(seconds / unit.seconds) \(unit.name)"
    }
}

/// Lines with a word in front, and more lines below it.
enum Table {
    /// The word in a column of its own; every text on its own line.
    static func lines(_ word: String, _ texts: [String]) -> [String] {
        texts.enumerated().map { index, text in
            let start = index == 0 ? word : ""
            return start + String(repeating: " ", count: max(1, 14 - start.count)) + text
        }
    }

    static func write(_ lines: [String]) {
        StandardOutput.write(Array(lines.joined(separator: "\n").utf8))
    }
}
