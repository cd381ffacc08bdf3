import ServerTrust

extension TrustCase {
    static let encodings: [TrustCase] = [
        TrustCase("bytes that are not a certificate") {
            $0.sent = [[1, 2, 3], World.intermediate.der]
            $0.openSSL = .cannotSay
            $0.refuseUnreadable()
        },
        TrustCase("nothing") {
            $0.sent = [[], World.intermediate.der]
            $0.openSSL = .cannotSay
            $0.refuseUnreadable()
        },
        TrustCase("a byte after the certificate") {
            $0.sent[0] += [0]
            $0.openSSL = .cannotSay
            $0.refuseUnreadable()
        },
        TrustCase("a byte missing") {
            $0.sent[0].removeLast()
            $0.openSSL = .cannotSay
            $0.refuseUnreadable()
        },
        TrustCase("an unreadable intermediate that is not needed") {
            $0.sent = [World.leaf.der, [0x30, 0x00], World.intermediate.der]
            $0.openSSL = .cannotSay
        },
        TrustCase("an unreadable intermediate that is needed") {
            $0.sent = [World.leaf.der, Array(World.intermediate.der.dropLast())]
            $0.openSSL = .cannotSay
            $0.refuse(.unknownIssuer(subject: World.host, issuer: "CN=Intermediate,O=Forge"))
        },
        TrustCase("different inner and outer signature algorithms") {
            // The last byte is 2 for ecdsa-with-SHA256 and 3 for ecdsa-with-SHA384. The last occurrence is outside
            // the signed part.
            let identifier: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03]
            $0.sent[0] = World.leaf.der.replacingLast(identifier + [2], with: identifier + [3])
            $0.openSSL = .cannotSay
            $0.refuseUnreadable()
        },
        TrustCase("one bit of the signature changed") {
            $0.sent[0][$0.sent[0].count - 1] ^= 1
            $0.refuse(.badSignature(subject: World.host))
        },
        TrustCase("one bit of the signed data changed") {
            // The name in subject and subjectAltName: example.org becomes fxample.org.
            $0.sent[0] = World.leaf.der.replacing(Array("example.org".utf8), with: Array("fxample.org".utf8))
            $0.host = "fxample.org"
            $0.refuse(.badSignature(subject: "fxample.org"))
        },
    ]

    /// Expects an unreadable certificate. The message of the parser is not under test.
    private mutating func refuseUnreadable() {
        guard case .refused(.unreadableCertificate(let detail)) = verdict() else {
            expected = .refused(.unreadableCertificate("any detail"))
            return
        }
        refuse(.unreadableCertificate(detail))
    }
}

extension [UInt8] {
    /// Returns the bytes with each occurrence of `old` replaced.
    func replacing(_ old: [UInt8], with new: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = self[...]
        while !rest.isEmpty {
            if rest.starts(with: old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }

    func replacingLast(_ old: [UInt8], with new: [UInt8]) -> [UInt8] {
        guard let start = indices.last(where: { self[$0...].starts(with: old) }) else { return self }
        return Array(self[..<start]) + new + Array(self[(start + old.count)...])
    }
}
