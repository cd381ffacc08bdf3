import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Expectations of `AFSecurityPolicy`: from its own tests, and from the tests that it shares with Alamofire.
    static let afNetworking: [AlamofireRow] =
        defaults
        + pinned("keys", .publicKey, elsewhere: .isNotPinned(World.adn))
        + pinned("certificates", .certificate, elsewhere: .lacksIssuer(World.otherAuthority))
        + domains + selfSigned + common

    private static let httpBin = [World.httpBin, World.publicAuthority]
    private static let adn = [World.adn, World.otherAuthority]

    private static func policy(
        _ mode: AFSSLPinningMode = .none,
        _ pinned: [Forged] = [],
        allowsInvalid: Bool = false,
        validatesDomain: Bool = true
    ) -> Judge {
        var policy = AFSecurityPolicy(pinningMode: mode, withPinnedCertificates: pinned.map(\.certificate))
        policy.allowInvalidCertificates = allowsInvalid
        policy.validatesDomainName = validatesDomain
        return .security(policy)
    }

    private static func row(
        _ name: String,
        _ sent: [Forged],
        host: String?,
        _ judge: Judge,
        _ failure: TrustFailure? = nil,
        difference: String? = nil
    ) -> AlamofireRow {
        AlamofireRow(name, sent, judge) {
            $0.onSystem(host: host)
            if let failure { $0.refuse(failure) }
            $0.difference = difference
        }
    }

    private static let defaults: [AlamofireRow] = [
        row("default: no domain", httpBin, host: nil, policy()),
        row("default: the domain", httpBin, host: "httpbin.org", policy()),
        row("default: self-signed", [World.noDomains], host: nil, policy(), .selfSigned(subject: "NoDomains")),
        row("default: another domain", httpBin, host: "apple.com", policy(), .hostMismatch(names: ["httpbin.org"])),
    ]

    private static func pinned(
        _ title: String,
        _ mode: AFSSLPinningMode,
        elsewhere: TrustFailure
    ) -> [AlamofireRow] {
        let whole = httpBin + [World.publicRoot]
        let several = [World.httpBin, World.commonName]
        let otherDomain = TrustFailure.hostMismatch(names: ["httpbin.org"])
        return [
            row("\(title): the server's", httpBin, host: nil, policy(mode, [World.httpBin])),
            row("\(title): the intermediate's", httpBin, host: nil, policy(mode, [World.publicAuthority])),
            row("\(title): the root's, which is not sent", httpBin, host: nil, policy(mode, [World.publicRoot])),
            row("\(title): the whole chain's", httpBin, host: nil, policy(mode, whole)),
            row("\(title): the server's and another", httpBin, host: nil, policy(mode, several)),
            row("\(title): the server's, the domain", httpBin, host: "httpbin.org", policy(mode, [World.httpBin])),
            row("\(title): none", httpBin, host: nil, policy(mode), .noPins),
            row("\(title): another server's", adn, host: nil, policy(mode, [World.httpBin]), elsewhere),
            row(
                "\(title): the server's, another domain",
                httpBin,
                host: "invaliddomainname.com",
                policy(mode, [World.httpBin]),
                otherDomain
            ),
            row("\(title): several others'", adn, host: nil, policy(mode, several), elsewhere),
        ]
    }

    private static let domains: [AlamofireRow] = [
        row("domains are not validated", httpBin, host: "invalid.org", policy(validatesDomain: false)),
        row(
            "self-signed, its key pinned, the domain is the common name",
            [World.commonName],
            host: "foobar.com",
            policy(.publicKey, [World.commonName], allowsInvalid: true),
            .hasNoNames(World.commonName),
            difference:
                "a common name is not a host name (RFC 9525, 2); Apple's systems have not accepted it since 2019"
        ),
        own("its key pinned, the domain", policy(.publicKey, [World.alternativeName], allowsInvalid: true)),
        row("another domain", httpBin, host: "invalid.org", policy(), .hostMismatch(names: ["httpbin.org"])),
        row(
            "self-signed, pinned, without a domain",
            [World.noDomains],
            host: "foobar.com",
            policy(.certificate, [World.noDomains], allowsInvalid: true),
            .hasNoNames(World.noDomains)
        ),
        // AFNetworking has no test for this. The expectation follows from its code.
        row(
            "its key pinned, invalid ones allowed, another domain",
            [World.alternativeName],
            host: "other.com",
            policy(.publicKey, [World.alternativeName], allowsInvalid: true),
            .hostMismatch(names: ["foobar.com"]),
            difference:
                "AFNetworking does not verify the domain if invalid certificates are allowed, for any `validatesDomainName`"
        ),
    ]

    private static let unvouched = TrustFailure.custom(
        "a domain name can only be validated with a valid chain or with pins: pin the certificate"
    )

    private static let selfSigned: [AlamofireRow] = [
        own("allowed, no domain", host: nil, policy(allowsInvalid: true)),
        own(
            "allowed, its key pinned, no domain",
            host: nil,
            policy(.publicKey, [World.alternativeName], allowsInvalid: true)
        ),
        own("allowed, domains are not validated", policy(allowsInvalid: true, validatesDomain: false)),
        own("not allowed", host: nil, policy(), .selfSigned(subject: "AltName")),
        own("allowed, keys without any", policy(.publicKey, allowsInvalid: true), .noPins),
        own("allowed, given but not pinned", policy(.none, [World.alternativeName], allowsInvalid: true), unvouched),
        own("allowed, nothing given", policy(allowsInvalid: true), unvouched),
    ]

    /// A server with the self-signed certificate for foobar.com.
    private static func own(
        _ name: String,
        host: String? = "foobar.com",
        _ judge: Judge,
        _ failure: TrustFailure? = nil
    ) -> AlamofireRow {
        row("self-signed, \(name)", [World.alternativeName], host: host, judge, failure)
    }

    /// The tests that AFNetworking has taken over from Alamofire, without the tests that it has commented out.
    private static let common: [AlamofireRow] =
        standard("as Alamofire, default") { policy(validatesDomain: $0) }
        + keys("as Alamofire, keys") { pinned, validateChain, validateHost in
            policy(.publicKey, pinned, allowsInvalid: !validateChain, validatesDomain: validateHost)
        }.filter { !$0.name.hasSuffix("the root's, the intermediate is missing") }
        + [false, true].flatMap { validateHost in
            certificates(
                validateHost ? "as Alamofire, certificates, host" : "as Alamofire, certificates",
                accepted: { policy(.certificate, $0) },
                refused: { policy(.certificate, $0, validatesDomain: validateHost) },
                pinsAreAnchors: false
            ).dropFirst(3)
        }
        + unvalidatedCertificates(
            "as Alamofire, certificates, no chain",
            // In AFNetworking the pinned certificates are still the anchors of a chain that must be valid.
            notPinned: .alamofireRootIsUntrusted
        ) {
            policy(.certificate, $0, allowsInvalid: true, validatesDomain: false)
        }.prefix(5)
}
