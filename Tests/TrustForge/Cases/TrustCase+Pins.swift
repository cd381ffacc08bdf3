import ServerTrust

extension TrustCase {
    private static let strange = World.strangeRoot.pin
    private static let chainPins = [World.leaf.pin, World.intermediate.pin, World.root.pin]
    private static let renewed = Blueprint.leaf().with(\.ends, TrustTime(year: 2028, month: 1, day: 1))
        .with(\.key, World.leaf.key).signed(by: World.intermediate)
    private static let rekeyed = Blueprint.leaf().with(\.key, .p256("backup")).signed(by: World.intermediate)
    private static let expired = Blueprint.leaf().with(\.ends, TrustTime(year: 2026, month: 3, day: 1))
        .signed(by: World.intermediate)
    private static let own = Blueprint.leaf("selfish").signed()

    static let pins: [TrustCase] = [
        pinned("the server's key is pinned", [World.leaf.pin, strange]),
        pinned("the intermediate's key is pinned", [strange, World.intermediate.pin]),
        pinned("the root's key is pinned, though it is not sent", [strange, World.root.pin]),
        pinned("nothing on the chain is pinned", [strange, rekeyed.pin], mismatch: chainPins),
        pinned("renewed with the same key", [World.leaf.pin, strange], sent: [renewed, World.intermediate]),
        pinned("renewed with the backup's key", [World.leaf.pin, rekeyed.pin], sent: [rekeyed, World.intermediate]),
        pinned(
            "renewed with a key that is not pinned",
            [World.leaf.pin, strange],
            sent: [rekeyed, World.intermediate],
            mismatch: [rekeyed.pin, World.intermediate.pin, World.root.pin]
        ),
        pinned(
            "the pinned certificate is sent, but is not on the chain",
            [strange, rekeyed.pin],
            sent: [World.leaf, World.intermediate, World.strangeRoot],
            mismatch: chainPins
        ),
        pinned("a mismatch after the expiry of the pins", [strange, rekeyed.pin], expires: World.now),
        pinned(
            "a mismatch a second before the expiry of the pins",
            [strange, rekeyed.pin],
            expires: World.now.advanced(by: .seconds(1)),
            mismatch: chainPins
        ),
        pinned("a mismatch of pins that only report", [strange, rekeyed.pin], reportsOnly: true),
        TrustCase("pins that only report do not excuse an expired certificate") {
            $0.send(expired, World.intermediate)
            $0.evaluator = evaluator([strange, rekeyed.pin], reportsOnly: true)
            $0.refuse(.expired(subject: World.host, notAfter: expired.certificate.notAfter))
        },
        TrustCase("the right pin does not excuse an expired certificate") {
            $0.send(expired, World.intermediate)
            $0.evaluator = evaluator([expired.pin, strange])
            $0.refuse(.expired(subject: World.host, notAfter: expired.certificate.notAfter))
        },
        TrustCase("the right pin does not excuse the wrong host") {
            $0.host = "example.com"
            $0.evaluator = evaluator([World.leaf.pin, strange])
            $0.refuse(.hostMismatch(names: [World.host]))
        },
        certificates("the server's certificate is pinned", [World.leaf]),
        certificates("the intermediate is pinned", [World.intermediate]),
        certificates("the root is pinned", [World.root]),
        certificates("another certificate is pinned", [World.strangeLeaf], refused: .notPinned(subject: World.host)),
        certificates("no certificate is pinned", [], refused: .noPins),
        certificates(
            "a renewed certificate is not the pinned one",
            [World.leaf],
            sent: [renewed, World.intermediate],
            refused: .notPinned(subject: World.host)
        ),
        TrustCase("a self-signed certificate, pinned and accepted") {
            $0.send(own)
            $0.evaluator = PinnedCertificatesTrustEvaluator(
                certificates: [own.certificate],
                acceptSelfSignedCertificates: true
            )
            $0.openSSL = .cannotSay
        },
        TrustCase("a self-signed certificate, pinned but not accepted") {
            $0.send(own)
            $0.evaluator = PinnedCertificatesTrustEvaluator(certificates: [own.certificate])
            $0.refuse(.selfSigned(subject: "selfish"))
        },
        TrustCase("a self-signed certificate that is not the pinned one") {
            let other = Blueprint.leaf("selfish").with(\.key, .p256("other")).signed()
            $0.send(other)
            $0.evaluator = PinnedCertificatesTrustEvaluator(
                certificates: [own.certificate],
                acceptSelfSignedCertificates: true
            )
            $0.refuse(.badSignature(subject: "selfish"))
        },
        unvalidated("expired, pinned, not validated", [expired], sent: [expired, World.intermediate]),
        unvalidated(
            "the intermediate pinned, not validated",
            [World.intermediate],
            sent: [World.leaf, World.intermediate]
        ),
        unvalidated(
            "the pinned certificate sent by an unrelated server, not validated",
            [World.leaf],
            sent: [World.strangeLeaf, World.leaf, World.intermediate],
            refused: .notPinned(subject: "stranger")
        ),
        unvalidated(
            "signed by a pinned certificate that is not an authority, not validated",
            [World.leaf],
            sent: [Blueprint.leaf("forged").signed(by: World.leaf), World.leaf],
            refused: .notPinned(subject: "forged")
        ),
        keys("the server's key", [World.leaf]),
        keys("the key of a renewed certificate", [renewed]),
        keys("another key", [rekeyed], refused: .notPinned(subject: World.host)),
        keys("no key", [], refused: .noPins),
    ]

    private static func evaluator(
        _ pins: [PublicKeyPin],
        expires: TrustTime? = nil,
        reportsOnly: Bool = false
    ) -> any ServerTrustEvaluating {
        guard let set = try? PinSet(pins, expires: expires, reportsOnly: reportsOnly) else {
            fatalError("the pins are none")
        }
        return PinSetTrustEvaluator(pins: set)
    }

    private static func pinned(
        _ name: String,
        _ pins: [PublicKeyPin],
        sent: [Forged] = [World.leaf, World.intermediate],
        expires: TrustTime? = nil,
        reportsOnly: Bool = false,
        mismatch: [PublicKeyPin]? = nil
    ) -> TrustCase {
        TrustCase(name) {
            $0.send(sent)
            $0.evaluator = evaluator(pins, expires: expires, reportsOnly: reportsOnly)
            $0.openSSL = .cannotSay
            if let mismatch { $0.refuse(.pinMismatch(presented: mismatch)) }
        }
    }

    private static func certificates(
        _ name: String,
        _ pinned: [Forged],
        sent: [Forged] = [World.leaf, World.intermediate],
        refused: TrustFailure? = nil
    ) -> TrustCase {
        TrustCase(name) {
            $0.send(sent)
            $0.evaluator = PinnedCertificatesTrustEvaluator(certificates: pinned.map(\.certificate))
            $0.openSSL = .cannotSay
            if let refused { $0.refuse(refused) }
        }
    }

    private static func unvalidated(
        _ name: String,
        _ pinned: [Forged],
        sent: [Forged],
        refused: TrustFailure? = nil
    ) -> TrustCase {
        TrustCase(name) {
            $0.send(sent)
            $0.evaluator = PinnedCertificatesTrustEvaluator(
                certificates: pinned.map(\.certificate),
                performDefaultValidation: false,
                validateHost: false
            )
            $0.openSSL = .cannotSay
            if let refused { $0.refuse(refused) }
        }
    }

    private static func keys(_ name: String, _ pinned: [Forged], refused: TrustFailure? = nil) -> TrustCase {
        TrustCase("\(name) is pinned as a key") {
            $0.evaluator = PublicKeysTrustEvaluator(keys: pinned.map(\.certificate.publicKey))
            $0.openSSL = .cannotSay
            if let refused { $0.refuse(refused) }
        }
    }
}
