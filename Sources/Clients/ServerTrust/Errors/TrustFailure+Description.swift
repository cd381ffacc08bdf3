import LinuxSupport

extension TrustFailure: CustomStringConvertible {
    /// What is wrong and, where something can be done, what.
    ///
    /// What strangers wrote is made safe to show, and no longer than a page.
    public var description: String { sentence.shown }

    private var sentence: String {
        switch self {
        case .noCertificates: "the server sent no certificate"
        case .unreadableCertificate(let detail): detail
        case .unreadableExtension(let subject, let name): "the extension \(name) of \(subject) cannot be read"
        case .nonconformingEncoding(let subject, let detail):
            "\(subject) is not encoded as the standards say: \(detail); it can be pinned, but is part of no valid chain"
        case .tooComplex(let detail): "the chain is too complicated: \(detail)"
        case .noAnchors(let detail): "there are no anchors: \(detail)"
        case .selfSigned(let subject):
            "\(subject) is self-signed: pin it, or add it to the anchors, if it is the right one"
        case .untrustedRoot(let subject): "the root \(subject) is not among the anchors"
        case .unknownIssuer(let subject, let issuer):
            "the issuer of \(subject), \(issuer), is neither an anchor nor sent by the server"
        case .badSignature(let subject): "the signature of \(subject) is not its issuer's"
        case .expired(let subject, let time): "\(subject) has expired, it was valid until \(time)"
        case .notYetValid(let subject, let time): "\(subject) is not valid before \(time): is the clock right?"
        case .notCertificateAuthority(let subject): "\(subject) has signed a certificate but is no authority"
        case .pathTooLong(let subject, let limit): "\(subject) allows \(limit) authorities below it, and there are more"
        case .keyUsage(let subject, let needed): "the key of \(subject) is not for \(needed)"
        case .extendedKeyUsage(let subject): "\(subject) is not for TLS servers"
        case .nameConstraints(let subject, let name, let authority):
            "\(authority) may not certify the name \(name) of \(subject)"
        case .criticalExtension(let subject, let identifier):
            "\(subject) has the critical extension \(identifier), which is not understood"
        case .extensionsInVersion1(let subject): "\(subject) has extensions, but its version has none"
        case .weakSignature(let subject, let algorithm): "\(subject) is signed with \(algorithm), which is too weak"
        case .weakKey(let subject, let bits): "the key of \(subject) has \(bits) bits, which are too few"
        case .invalidHost(let host): "\"\(host)\" is neither a host name nor an address"
        case .hostMismatch(let names): "the certificate is for \(names.joined(separator: ", "))"
        case .noSubjectAlternativeName(let subject): "\(subject) has no host name or address in subjectAltName"
        case .pinMismatch(let presented):
            "none of the pins is on the chain, which has \(presented.map(\.description).joined(separator: ", "))"
        case .notPinned(let subject): "neither \(subject) nor an authority above it is pinned"
        case .noPins: "there are no pins, and so nothing to trust"
        case .revoked(let subject, let detail): "\(subject) is revoked \(detail)"
        case .revocationUnknown(let subject, let detail): "whether \(subject) is revoked is not known: \(detail)"
        case .noEvaluator: "no evaluator is set for the host, and all hosts must be evaluated"
        case .invalidPattern(let pattern):
            "\"\(pattern)\" is no host, *.domain or **.domain: no host is trusted until that is set right"
        case .equalPatterns(let one, let other):
            "\"\(one)\" and \"\(other)\" are the same hosts: no host is trusted until one of them is taken away"
        case .noRevocationChecker:
            "revocation cannot be looked into: there is no checker, no stapled response and no list; set `revocation`"
        case .timedOut(let limit): "the evaluation took longer than \(limit)"
        case .cancelled: "the connection was closed before the evaluation was over"
        case .custom(let detail): detail
        }
    }
}

extension Error {
    /// The error in words, without the places in source files and the names of errors that some libraries add.
    package var plainText: String {
        var words = String(describing: self).split(at: " ").filter { !$0.contains(".swift:") }
        // `ASN1Error.invalidASN1Object: the words`
        if words.count > 1, words[0].hasSuffix(":"), words[0].contains("Error.") { words.removeFirst() }
        var text = words.joined(separator: " ")
        while text.last == ":" { text.removeLast() }
        // `ASN1Error.truncatedASN1Field`
        guard words.count == 1, text.contains("Error."), let dot = text.unicodeScalars.lastIndex(of: ".") else {
            return text
        }
        return "not encoded as it must be (\(text[dot...].dropFirst()))"
    }
}

extension String {
    /// What may hold a stranger's words, safe for a log or a terminal: control characters are escaped, and what is longer than 2048
    /// characters is cut.
    package var shown: String {
        let limit = 2048
        // Escapes make a text longer: it is cut before and after.
        guard utf8.count > limit else { return printable }
        let text = String(prefix(limit)).printable
        return text.count == count ? text : "\(text.prefix(limit))\u{2026} (cut)"
    }
}
